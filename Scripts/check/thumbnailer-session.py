"""Asks the thumbnailing service of a session for thumbnails, as a file manager does; see thumbnailer-test.sh.

    none FOLDER                  no file of the folder may get a thumbnail
    all FOLDER HOSTILE...        each must get one; the files of the other folders must do no harm
"""

import hashlib
import os
import struct
import sys
import time
import zlib

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME = "org.freedesktop.thumbnails.Thumbnailer1"
PATH = "/org/freedesktop/thumbnails/Thumbnailer1"
SECONDS = 15
SIDES = {"normal": 128, "large": 256}

bus = Gio.bus_get_sync(Gio.BusType.SESSION)
failures = []


def fail(text):
    failures.append(text)
    print("  WRONG:", text)


def call(method, arguments, kind, name=NAME, path=PATH, interface=NAME):
    answer = bus.call_sync(name, path, interface, method, arguments, GLib.VariantType(kind), 0, SECONDS * 1000)
    return answer.unpack()


def process():
    return call("GetConnectionUnixProcessID", GLib.Variant("(s)", (NAME,)), "(u)", "org.freedesktop.DBus", "/",
                "org.freedesktop.DBus")[0]


def request(file, flavor, kind=None):
    """Waits until the service is done with a file; returns its seconds, or None if it is not in time, and its error."""
    uri = Gio.File.new_for_path(file).get_uri()
    if kind is None:
        info = Gio.File.new_for_path(file).query_info("standard::content-type", 0)
        kind = Gio.content_type_get_mime_type(info.get_content_type())
    loop = GLib.MainLoop()
    handle, finished, errors = None, [], {}

    def receive(_bus, _sender, _path, _interface, signal, arguments):
        values = arguments.unpack()
        if signal == "Error":
            errors[values[0]] = values[3]
        if signal == "Finished":
            finished.append(values[0])
            if handle in finished:
                loop.quit()

    subscription = bus.signal_subscribe(None, NAME, None, PATH, None, 0, receive)
    start = time.monotonic()
    handle = call("Queue", GLib.Variant("(asasssu)", ([uri], [kind], flavor, "foreground", 0)), "(u)")[0]
    limit = GLib.timeout_add(SECONDS * 1000, loop.quit)
    loop.run()
    bus.signal_unsubscribe(subscription)
    if handle not in finished:
        return None, "it took too long", kind
    GLib.source_remove(limit)
    return time.monotonic() - start, errors.get(handle), kind


def thumbnail(file, flavor):
    uri = Gio.File.new_for_path(file).get_uri()
    name = hashlib.md5(uri.encode()).hexdigest() + ".png"
    return uri, os.path.join(os.environ["XDG_CACHE_HOME"], "thumbnails", flavor, name)


def read_png(path):
    """Returns the sides of a PNG and its texts, and checks each chunk."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    sides, texts, offset = None, {}, 8
    while offset < len(data):
        length, kind = struct.unpack(">I4s", data[offset:offset + 8])
        body = data[offset + 8:offset + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[offset + 8 + length:offset + 12 + length])[0]
        if kind == b"IHDR":
            sides = struct.unpack(">II", body[:8])
        if kind == b"tEXt":
            key, value = body.split(b"\0", 1)
            texts[key.decode()] = value.decode("latin-1")
        offset += 12 + length
    return sides, texts


def files(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


def expect_none(folder):
    for file in files(folder):
        seconds, error, kind = request(file, "normal")
        made = os.path.exists(thumbnail(file, "normal")[1])
        print(f"  {os.path.basename(file):26} {kind:14} {'a thumbnail' if made else error or 'no thumbnail'}")
        if made:
            fail("it has a thumbnail without the entry, so this shows nothing")


def expect_all(folder):
    for file in files(folder):
        for flavor, side in SIDES.items():
            seconds, error, kind = request(file, flavor)
            uri, path = thumbnail(file, flavor)
            if not os.path.exists(path):
                fail(f"{os.path.basename(file)} ({kind}) has no thumbnail: {error}")
                continue
            sides, texts = read_png(path)
            print(f"  {os.path.basename(file):26} {kind:14} {flavor:6} {sides[0]}x{sides[1]} {seconds * 1000:6.0f} ms")
            if max(sides) > side:
                fail("the thumbnail is too large")
            if texts.get("Thumb::URI") != uri:
                fail(f"it is the thumbnail of {texts.get('Thumb::URI')}")


def children(parent):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="latin-1") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            if int(fields[1]) == parent and fields[0] != "Z":
                found.append(int(name))
        except OSError:
            pass
    return found


def expect_no_harm(folder, service):
    slowest, made, count = (0, ""), 0, 0
    for file in files(folder):
        # A type of which the service knows no other thumbnailer; the tool goes by the bytes.
        seconds, error, _ = request(file, "normal", "image/jxl")
        count += 1
        if seconds is None:
            fail(f"{os.path.basename(file)} took more than {SECONDS} s")
            seconds = SECONDS
        path = thumbnail(file, "normal")[1]
        if os.path.exists(path):
            made += 1
            if max(read_png(path)[0]) > SIDES["normal"]:
                fail(f"the thumbnail of {os.path.basename(file)} is too large")
        slowest = max(slowest, (seconds, os.path.basename(file)))
    print(f"  {os.path.basename(folder)}: {count} files, {made} with a thumbnail; the slowest took {slowest[0]:.1f} s"
          f" ({slowest[1]})")
    if children(service):
        fail(f"processes are left over: {children(service)}")
    if process() != service:
        fail("the service has ended and was started again")


if sys.argv[1] == "none":
    expect_none(sys.argv[2])
else:
    expect_all(sys.argv[2])
    service = process()
    for hostile in sys.argv[3:]:
        expect_no_harm(hostile, service)
    last = os.path.join(sys.argv[2], "a.avif")
    os.remove(thumbnail(last, "normal")[1])
    request(last, "normal")
    if not os.path.exists(thumbnail(last, "normal")[1]):
        fail("the service makes no thumbnails any more")
    print("  the service is alive and makes thumbnails")
    if os.listdir(os.environ["TMPDIR"]):
        fail(f"temporary files are left over: {os.listdir(os.environ['TMPDIR'])}")
sys.exit(1 if failures else 0)
