#!/usr/bin/python3
"""Opens the gallery in a folder of hostile files with photographs among them.

`hostile-gallery.py PROGRAM FOLDER WORK`: WORK/photos has damaged files, and WORK/demanding files that ask for gigabytes or
for ever. Twenty photographs of FOLDER, each with a square of a colour of its own, and as many demanding files are the first
of the folder by their names. Every square must be on the display within 15 s. Then the folder is paged through to its end
and back.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy
from PIL import Image

WIDTH, HEIGHT = 2560, 1600
COUNT = 20  # photographs
LIMIT = 15  # seconds
program, originals, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
photos = work / "photos"
COLORS = [(255 * (n & 1), 85 * (n >> 1 & 3), 63 * (n >> 3 & 3) + 60) for n in range(COUNT)]


def do(*words):
    return subprocess.run(["xdotool", *map(str, words)], check=True, capture_output=True, text=True).stdout


def make_photographs():
    pictures = [path for path in sorted(originals.iterdir()) if path.suffix == ".jpg"]
    for number, color in enumerate(COLORS):
        picture = Image.open(pictures[number % len(pictures)]).convert("RGB")
        side = min(picture.size) // 3
        place = ((picture.width - side) // 2, (picture.height - side) // 2)
        picture.paste(color, (*place, place[0] + side, place[1] + side))
        # The colour is what is looked for, so it is not subsampled.
        picture.save(photos / f"a{2 * number:02}.jpg", quality=95, subsampling=0)


def place_hostile():
    for path in list(photos.iterdir()):
        path.rename(photos / f"z{path.name}")
    files = sorted(path for path in (work / "demanding").rglob("*") if path.is_file())
    for number, path in enumerate(files):
        first = f"a{2 * number + 1:02}" if number < COUNT else "y"
        path.rename(photos / f"{first}-{path.name}")
    return len(files)


def grab(frame):
    words = frame[:100].view(">u4")
    start, stride = int(words[0]) + 12 * int(words[19]), int(words[12])
    return frame[start:start + stride * HEIGHT].reshape(HEIGHT, stride)[:, :4 * WIDTH].reshape(HEIGHT, WIDTH, 4)[:, :, 2::-1].copy()


def drawn(screen):
    """The number of photographs whose squares are on the display."""
    small = screen[::4, ::4].astype(numpy.int16)
    return sum(int((numpy.abs(small - color).max(axis=2) <= 6).sum()) >= 40 for color in COLORS)


demanding = place_hostile()
make_photographs()
reading, writing = os.pipe()
server = subprocess.Popen(
    ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", str(work), "-nolisten", "tcp"],
    pass_fds=[writing], stderr=subprocess.DEVNULL)
os.close(writing)
home = work / "home"
os.environ.update(DISPLAY=":" + os.read(reading, 16).decode().strip(), HOME=str(home), XDG_CACHE_HOME=str(home / "cache"),
                  XDG_CONFIG_HOME=str(home / "config"), XDG_DATA_HOME=str(home / "data"), GSK_RENDERER="cairo")
frame = numpy.memmap(work / "Xvfb_screen0", dtype=numpy.uint8, mode="r")
manager = subprocess.Popen(["openbox"], stderr=subprocess.DEVNULL)
started = time.monotonic()
with open(work / "log.txt", "w") as log:
    gallery = subprocess.Popen([program, "--new-instance", str(photos)], stdout=log, stderr=log)


def end(text, status):
    Image.fromarray(grab(frame)).save(work / "last.png")
    print(f"hostile-gallery: {text}", flush=True)
    for process in (gallery, manager, server):
        process.terminate()
        process.wait()
    shutil.rmtree(photos, ignore_errors=True)
    sys.exit(status)


def check_alive():
    if gallery.poll() is not None:
        end(f"the gallery has ended with {gallery.returncode}; see {work}/log.txt", 1)


window = int(do("search", "--sync", "--onlyvisible", "--pid", gallery.pid).split()[-1])
do("windowactivate", "--sync", window, "windowsize", "--sync", window, WIDTH, HEIGHT - 40, "windowmove", window, 0, 0)
count = 0
while count < COUNT:
    check_alive()
    if time.monotonic() - started > LIMIT:
        end(f"after {LIMIT} s, {count} of {COUNT} photographs are drawn", 1)
    time.sleep(0.1)
    count = drawn(grab(frame))
print(f"{COUNT} photographs among {demanding} demanding and {len(list(photos.iterdir())) - demanding - COUNT} damaged "
      f"files were drawn after {time.monotonic() - started:.1f} s", flush=True)
Image.fromarray(grab(frame)).save(work / "first.png")
do("key", "Home")
for _ in range(600):
    check_alive()
    do("key", "Page_Down")
    time.sleep(0.1)
do("key", "End")
time.sleep(1)
Image.fromarray(grab(frame)).save(work / "end.png")
do("key", "Home")
deadline = time.monotonic() + LIMIT
while drawn(grab(frame)) < COUNT:
    check_alive()
    if time.monotonic() > deadline:
        end("the photographs are not drawn again after the end of the folder", 1)
    time.sleep(0.1)
end("the window has lived through all of the folder", 0)
