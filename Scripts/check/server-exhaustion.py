#!/usr/bin/env python3
"""Takes more of a thumbnail server than one client should get, and says what is left for its honest clients.

    server-exhaustion.py ATTACK URL --pid PID --local NAME --root FOLDER --memory MEGABYTES

The attacks: `readers` of large images that do not read; `canvases` and `encoders` that need gigabytes; `holders`, a client
whose slow sources fill the memory for sources; `trickles`, 64 sources of one client that send a byte a second; `network`,
320 addresses of one IPv6 network that want as much; `everything` at once. Throughout, the memory of the server with its workers must
stay below one and a half times its setting and 60 MB, and 99 of 100 honest requests must be answered within a second.
"""
import collections
import os
import re
import struct
import threading
import time
import zlib

from checks import check, finish
from load import percentile
from raw_http import PATIENCE, Honest, Target, attack_arguments
from trickle import Trickle


class Watch(threading.Thread):
    """The memory of a process and its children, in megabytes; pages that they share count once."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak, self.ends = pid, 0, threading.Event()

    def now(self):
        total, children = 0, []
        # Each thread has those that it has started.
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{thread}/children") as file:
                    children += file.read().split()
            except OSError:
                pass
        for process in {str(self.pid), *children}:
            try:
                with open(f"/proc/{process}/smaps_rollup") as file:
                    text = file.read()
                total += sum(int(re.search(rf"Pss_{kind}:\s+(\d+)", text).group(1)) for kind in ("Anon", "Shmem")) / 1024
            except (OSError, AttributeError):
                pass
        return total

    def run(self):
        while not self.ends.wait(0.05):
            try:
                self.peak = max(self.peak, self.now())
            except OSError:
                return


class Modest(Honest):
    """An honest client of thumbnails of 200 pixels."""

    def run(self):
        while not self.ends.is_set():
            self.number += 1
            began = time.perf_counter()
            fields = "X-Forwarded-For: 192.0.2.7\r\n"
            status, _, _ = self.target.ask(f"/_/w:200/cb:{self.number}/plain/local:///{self.name_}@jpg", fields)
            self.answers.append((status, time.perf_counter() - began, True))
            self.ends.wait(0.05)


def start(server, targets, client="203.0.113.1", timeout=30):
    """Asks for all at once, in the background; returns the threads and a count of statuses."""
    statuses = collections.Counter()

    def one(index):
        address = client if isinstance(client, str) else client(index)
        status, _, _ = server.ask(targets[index], f"X-Forwarded-For: {address}\r\n", timeout=timeout)
        statuses[status] += 1

    threads = [threading.Thread(target=one, args=[index], daemon=True) for index in range(len(targets))]
    for thread in threads:
        thread.start()
    return threads, statuses


def ask_all(server, targets, client="203.0.113.1", timeout=30):
    threads, statuses = start(server, targets, client, timeout)
    for thread in threads:
        thread.join()
    return dict(statuses)


def dot(root):
    """Puts a picture of one pixel into the folder of sources; returns its name."""
    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(os.path.join(root, "dot.png"), "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
                   + part(b"IDAT", zlib.compress(b"\0abc")) + part(b"IEND", b""))
    return "dot.png"


def readers(server, arguments):
    """200 clients of a large image that do not read it"""
    targets = [f"/_/rs:force:1500:1500:1/cb:{index % 20}/plain/local:///{arguments.local}@png" for index in range(200)]
    connections = []
    for index, target in enumerate(targets):
        connection = server.connect()
        connection.sendall(server.request(target, f"X-Forwarded-For: 203.0.113.{index % 20}\r\n", closes=False))
        connections.append(connection)
    time.sleep(8)
    for connection in connections:
        connection.close()


def canvases(server, arguments):
    """24 pictures of one pixel on canvases of 64, 23 and 8 megapixels, blurred"""
    name = dot(arguments.root)
    for side, ending in ((4000, "avif"), (2400, "jpg"), (1400, "png")):
        padding = ":".join([str(side)] * 4)
        print("   ", 2 * side, ask_all(server, [f"/_/w:1/pd:{padding}/bl:0.{n}/plain/local:///{name}@{ending}" for n in range(1, 25)]))


def encoders(server, arguments):
    """24 pictures of 33, 9, 8 and 3 megapixels each, as AVIF, JPEG XL, PNG and WebP"""
    name, formats = dot(arguments.root), ["avif", "jxl", "png", "webp"]
    for size in ("8192:4096", "3000:3000", "2850:2850", "1700:1700"):
        targets = [f"/_/rs:force:{size}:1/bl:0.{n}/plain/local:///{name}@{formats[n % 4]}" for n in range(1, 25)]
        print("   ", size, ask_all(server, targets, timeout=60))


def holders(server, arguments):
    """Three sources of one client that fill the memory for sources, and 40 small ones of another"""
    size = arguments.memory * 1_000_000 // 12
    large, small = Trickle(size), Trickle(2000, whole=True)
    threads, statuses = start(server, [f"/_/w:{n}/plain/http://127.0.0.1:{large.port}/{n}.jpg@jpg" for n in (1, 2, 3, 4)])
    time.sleep(2)
    answers = ask_all(server, [f"/_/w:{n}/plain/http://127.0.0.1:{small.port}/{n}.jpg@jpg" for n in range(1, 41)], "203.0.113.2")
    # Their sources are no images.
    check(answers == {422: 40}, f"40 sources of another client: {answers}")
    large.end()
    for thread in threads:
        thread.join()
    print("   ", dict(statuses))


def trickles(server, arguments):
    """64 sources of one client that send a byte a second; then an image of another client"""
    source = Trickle(1_000_000)
    threads, _ = start(server, [f"/_/w:{n}/plain/http://127.0.0.1:{source.port}/{n}.jpg@jpg" for n in range(1, 65)])
    time.sleep(2)
    # Beside everything else both cores are busy with large files.
    most = 5 if arguments.attack == "everything" else 1
    began = time.monotonic()
    status, _, _ = server.ask(f"/_/w:201/plain/local:///{arguments.local}@jpg", "X-Forwarded-For: 203.0.113.2\r\n", timeout=70)
    check(status == 200 and time.monotonic() - began < most * PATIENCE, f"the first image of another client: {status} after {time.monotonic() - began:.2f} s")
    source.end()
    for thread in threads:
        thread.join()


def network(server, arguments):
    """320 addresses of one IPv6 network with slow sources; then images of another"""
    source = Trickle(1_000_000)
    targets = [f"/_/w:{n}/plain/http://127.0.0.1:{source.port}/{n}.jpg@jpg" for n in range(1, 401)]
    threads, _ = start(server, targets, lambda index: f"2001:db8::{index:x}")
    time.sleep(2)
    answers = ask_all(server, [f"/_/w:{300 + n}/plain/local:///{arguments.local}@jpg" for n in range(20)], "2001:db8:1::1")
    check(answers == {200: 20}, f"20 images of another network: {answers}")
    source.end()
    for thread in threads:
        thread.join()


def everything(server, arguments):
    """All of these at once"""
    threads = [threading.Thread(target=attack, args=[server, arguments]) for attack in (readers, canvases, encoders, trickles, network)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    attacks = {attack.__name__: attack for attack in (readers, canvases, encoders, holders, trickles, network, everything)}
    arguments = attack_arguments(__doc__, attacks, lambda parser: parser.add_argument("--memory", type=int, required=True))
    server = Target(arguments.server)
    print(f"{arguments.attack}: {attacks[arguments.attack].__doc__}")
    watch, honest = Watch(arguments.pid), Modest(server, arguments.local)
    watch.start()
    honest.start()
    time.sleep(0.5)
    attacks[arguments.attack](server, arguments)
    unserved = honest.finish()
    watch.ends.set()
    limit = 1.5 * arguments.memory + 60
    times = sorted(answer[1] for answer in honest.answers)
    check(watch.peak <= limit * PATIENCE, f"{watch.peak:.0f} MB at most, of {limit:.0f}")
    check(unserved == 0 and percentile(times, 0.99) <= PATIENCE, f"99 % of the honest within {percentile(times, 0.99) * 1000:.0f} ms")
    finish()


main()
