#!/usr/bin/python3
"""Measures viewers of pictures on a virtual display: `viewers.py GALLERY FOLDER`, the folder of photographs of 100 megapixels.

A program is started with a file, and the middle of the display is read again and again, with the CPU time of the program and
its children. The last picture is the sharp one. The time of the whole view is that of the first one from which on the display
is like the last, in a quarter of the size; the time of the sharp one that from which on it is the same.
"""
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
from PIL import Image

from xvfb import Xvfb

Image.MAX_IMAGE_PIXELS = None  # the photographs are the project's own

WIDTH, HEIGHT = 1280, 900
PARTS = os.environ.get("PARTS", "first next").split()
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SETTLED = 2.0  # seconds without a change, after which a view counts as the last
LIMIT = 60.0  # seconds
WHOLE, SHARP = 4.0, 1.0  # mean differences of 255 from the last view, in a quarter of the size and in its own
TICK = os.sysconf("SC_CLK_TCK")


class Display(Xvfb):
    def grab(self):
        """The green of the middle of the display, in which each of the programs shows nothing but the photograph."""
        return self.pixels[HEIGHT // 2 - 200:HEIGHT // 2 + 200, WIDTH // 2 - 150:WIDTH // 2 + 350, 1].copy()


def processes(root):
    """A process and its descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append((int(entry), fields))
    found, rest = [], [root]
    while rest:
        number = rest.pop()
        for child, _ in children.get(number, []):
            rest.append(child)
        found.append(number)
    return found


def cpu(root):
    """The CPU time of a process, its descendants and those of them that have ended, in seconds."""
    total = 0
    for number in processes(root):
        try:
            fields = pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(field) for field in fields[11:15])
    return total / TICK


def follow(display, root, start, before=None):
    """Reads the display until it rests; returns the times and CPU times of the whole and of the sharp view."""
    frames = []
    last_change = time.monotonic()
    while time.monotonic() - start < LIMIT:
        frame = display.grab()
        if not frames or not numpy.array_equal(frame, frames[-1][2]):
            frames.append((time.monotonic() - start, cpu(root), frame))
            last_change = time.monotonic()
        # An empty window is none of the pictures, nor is the former one.
        isPicture = frame.std() > 12 and (before is None or numpy.abs(frame.astype(int) - before).mean() > SHARP)
        if isPicture and time.monotonic() - last_change > SETTLED:
            break
        time.sleep(0.005)
    final = frames[-1][2].astype(numpy.float32)

    def coarse(frame):
        return frame.reshape(100, 4, 125, 4).mean(axis=(1, 3))

    def first(differs):
        found = frames[-1]
        for frame in reversed(frames):
            if differs(frame[2].astype(numpy.float32)):
                break
            found = frame
        return found[0], found[1]

    whole = first(lambda frame: numpy.abs(coarse(frame) - coarse(final)).mean() > WHOLE)
    sharp = first(lambda frame: numpy.abs(frame - final).mean() > SHARP)
    return whole, sharp, frames[-1][2]


def peak(root):
    total = 0
    for number in processes(root):
        try:
            text = pathlib.Path(f"/proc/{number}/status").read_text()
            total += int(text.split("VmHWM:")[1].split()[0])
        except (OSError, IndexError):
            pass
    return total / 1024


def start(command, home):
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    environment = dict(os.environ, HOME=home, XDG_CACHE_HOME=os.path.join(home, ".cache"))
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS"):
        environment.pop(name, None)
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def version(program, home):
    """The line with a number of what a program says of its version; Geeqie needs a display for it, and says more."""
    os.makedirs(home, exist_ok=True)
    text = subprocess.run([program, "--version"], capture_output=True, text=True, env=dict(os.environ, HOME=home)).stdout
    return next((line for line in text.splitlines() if line[-1:].isdigit()), program)


def stop(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def first_views(display, viewers, folder, home):
    print("First view of a photograph of 100 megapixels, least of", ROUNDS,
          "starts without a cache: s of wall clock, s of CPU; peak MB, most of all starts, shared pages counted in each process")
    print(f"{'file':<22}" + "".join(f"{name + ' whole':>18}{'sharp':>14}{'MB':>7}" for name in viewers) + "    CPU of geeqie's, whole")
    for name in ("photo.jpg", "photo-progressive.jpg", "photo.png", "photo.tif", "photo-lzw.tif", "photo.webp"):
        if not (folder / name).exists():
            continue
        results = {}
        for _ in range(ROUNDS):
            for viewer, command in viewers.items():
                began = time.monotonic()
                process = start(command(folder / name), home)
                whole, sharp, frame = follow(display, process.pid, began)
                results.setdefault(viewer, []).append((whole, sharp, peak(process.pid)))
                Image.fromarray(frame).save(shots / f"{viewer}-{name}.png")
                stop(process)
                time.sleep(0.3)
        row = f"{name:<22}"
        least = {}
        for viewer in viewers:
            whole = min(result[0] for result in results[viewer])
            cpus = min(result[0][1] for result in results[viewer])
            sharp = min(result[1][0] for result in results[viewer])
            sharp_cpu = min(result[1][1] for result in results[viewer])
            least[viewer] = cpus
            row += f"{whole[0]:>11.2f} {cpus:>6.2f}{sharp:>7.2f} {sharp_cpu:>6.2f}{max(result[2] for result in results[viewer]):>7.0f}"
        print(row + f"{least['vitrine'] / least['geeqie']:>14.2f}", flush=True)


def next_views(display, viewers, folder, home):
    """Goes on through photographs of 12 megapixels, and measures how long each takes to be sharp."""
    source = Image.open(folder / "photo.jpg")
    photographs = folder / "twelve"
    if not photographs.exists():
        photographs.mkdir()
        for number in range(10):
            left, top = 900 * number, 500 * number
            source.crop((left, top, left + 4000, top + 3000)).save(photographs / f"{number}.jpg", quality=92)
    print("\nNext photograph of 12 megapixels, sharp: ms, median and largest of 8, after rests of 1.5 s; and at once, three on")
    for viewer, command in viewers.items():
        process = start(command(photographs / "0.jpg"), home)
        _, _, frame = follow(display, process.pid, time.monotonic())
        times, cpus = [], []
        for _ in range(8):
            time.sleep(1.5)
            before_cpu, began = cpu(process.pid), time.monotonic()
            subprocess.run(["xdotool", "key", keys[viewer]], check=True)
            _, sharp, new = follow(display, process.pid, began, frame)
            times.append(sharp[0] * 1000)
            cpus.append((cpu(process.pid) - before_cpu) * 1000)
            frame = new
        subprocess.run(["xdotool", "key", "Home"], check=True)
        _, _, frame = follow(display, process.pid, time.monotonic(), frame)
        time.sleep(1.5)
        began = time.monotonic()
        subprocess.run(["xdotool", "key", "--delay", "20", keys[viewer], keys[viewer], keys[viewer]], check=True)
        _, fast, _ = follow(display, process.pid, began, frame)
        print(f"{viewer:<10}{statistics.median(times):>8.0f}{max(times):>8.0f}    CPU {statistics.median(cpus):>5.0f}    three on {fast[0] * 1000:>6.0f}", flush=True)
        stop(process)


keys = {"vitrine": "Right", "eog": "Right", "geeqie": "Page_Down"}


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2]).absolute()
    viewers = {
        "vitrine": lambda file: [program, "--new-instance", str(file)],
        "geeqie": lambda file: ["geeqie", "--without-tools", "--geometry=1280x880+0+0", str(file)],
        "eog": lambda file: ["eog", "--new-instance", str(file)],
    }
    runtime = tempfile.mkdtemp()
    os.environ.update(XDG_RUNTIME_DIR=runtime, GDK_BACKEND="x11", GSK_RENDERER="cairo", LIBGL_ALWAYS_SOFTWARE="1",
                      GDK_DEBUG="gl-disable", GTK_A11Y="none", NO_AT_BRIDGE="1")
    display = Display(runtime, WIDTH, HEIGHT)
    manager = subprocess.Popen(["openbox"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    home = os.path.join(runtime, "home")
    print(f"{version('eog', home)}, {version('geeqie', home)}; Xvfb {WIDTH}x{HEIGHT}, all drawn in software", flush=True)
    try:
        if "first" in PARTS:
            first_views(display, viewers, folder, home)
        if "next" in PARTS:
            next_views(display, viewers, folder, home)
    finally:
        manager.kill()
        display.server.send_signal(signal.SIGTERM)
        display.server.wait()
        shutil.rmtree(runtime, ignore_errors=True)


shots = pathlib.Path(".build/viewers")
shots.mkdir(parents=True, exist_ok=True)
main()
