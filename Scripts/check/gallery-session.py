#!/usr/bin/python3
"""Uses the gallery as a person does, with keys and the pointer, on a virtual display with a window manager.

`gallery-session.py PROGRAM FOLDER`: opens a folder of pictures made from those of FOLDER, goes on 50 times, zooms, pans,
fills the screen, moves to the trash, undoes, goes back, searches, changes a file, opens and closes 50 times. All the while
the pixels of the display are compared with the files: the picture must be that of the title, and sharp in the end. Then
animations of each format are opened 20 times each, and must move. The screenshots are in .build/gallery-session, to be
looked at. A warning of GTK's is a fault.
"""
import ctypes
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy
from PIL import Image, ImageDraw

from xvfb import Xvfb

WIDTH, HEIGHT = 1280, 900
COUNT = 60  # pictures
LIMIT = 20  # seconds for a step
SHARP = 2.0  # mean difference of a sharp picture from its file, of 255
SAME = 25.0  # the same of a blurred one
LAG = 0.25  # seconds for which a picture may stay under the next title: the time of a few frames of a busy machine
GROWTH = 4  # MB that 50 more rounds of opening and closing may take
output = pathlib.Path(".build/gallery-session").absolute()
faults = []


def fault(text):
    faults.append(text)
    print(f"gallery-session: {text}", file=sys.stderr, flush=True)


class Display(Xvfb):
    """A virtual display, and the titles of its windows."""

    def __init__(self, folder):
        super().__init__(folder, WIDTH, HEIGHT)
        self.x = ctypes.CDLL("libX11.so.6")
        self.x.XOpenDisplay.restype = ctypes.c_void_p
        self.x.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
        self.x.XInternAtom.restype = ctypes.c_ulong
        self.x.XGetWindowProperty.argtypes = [ctypes.c_void_p] + [ctypes.c_ulong] * 2 + [ctypes.c_long] * 2 + [
            ctypes.c_int, ctypes.c_ulong] + [ctypes.c_void_p] * 5
        self.x.XFree.argtypes = [ctypes.c_void_p]
        self.handle = self.x.XOpenDisplay(None)
        self.name = self.x.XInternAtom(self.handle, b"_NET_WM_NAME", 0)

    def grab(self):
        return self.pixels[:, :, 2::-1].copy()

    def title(self, window):
        kind, form, count, rest = ctypes.c_ulong(), ctypes.c_int(), ctypes.c_ulong(), ctypes.c_ulong()
        text = ctypes.c_char_p()
        self.x.XGetWindowProperty(self.handle, window, self.name, 0, 256, 0, 0, ctypes.byref(kind), ctypes.byref(form),
                                  ctypes.byref(count), ctypes.byref(rest), ctypes.byref(text))
        value = text.value
        if value is not None:
            self.x.XFree(text)
        return (value or b"").decode()


def do(*words):
    return subprocess.run(["xdotool", *map(str, words)], check=True, capture_output=True, text=True).stdout


def make_pictures(source, target):
    """Writes pictures that differ from each other, in several formats and sizes."""
    originals = []
    for path in sorted(pathlib.Path(source).iterdir()):
        if path.suffix in (".jpg", ".png", ".webp"):
            picture = Image.open(path)
            if not getattr(picture, "is_animated", False) and min(picture.size) >= 200:
                # Without its colour profile, which the comparison would have to apply.
                originals.append(Image.fromarray(numpy.asarray(picture.convert("RGB"))))
    if not originals:
        sys.exit(f"gallery-session: there are no pictures in {source}")
    target.mkdir(parents=True)
    chance = random.Random(7)
    for number in range(1, COUNT + 1):
        picture = originals[number % len(originals)]
        width = int(picture.width * chance.uniform(0.55, 0.9))
        height = int(picture.height * chance.uniform(0.55, 0.9))
        left, top = chance.randint(0, picture.width - width), chance.randint(0, picture.height - height)
        large = chance.choice([700, 1600, 2600]) / max(width, height)
        picture = picture.crop((left, top, left + width, top + height))
        picture = picture.resize((int(width * large), int(height * large)), Image.BICUBIC)
        ImageDraw.Draw(picture).text((20, 20), f"{number:03}", fill=(255, 255, 0))
        name = target / f"{number:03}"
        kind = number % 5
        if kind == 0:
            picture.save(f"{name}.png", compress_level=1)
        elif kind == 1:
            picture.save(f"{name}.webp", quality=90, method=0)
        else:
            picture.save(f"{name}.jpg", quality=92, progressive=kind == 2)


class Session:
    def __init__(self, program, folder, compares=True):
        self.folder = folder
        self.files = {path.name: path for path in sorted(folder.iterdir())}
        if compares:
            self.load()
        self.area = None
        self.log = open(output / "log.txt", "w+")
        started = time.monotonic()
        self.process = subprocess.Popen([program, "--new-instance", "--times", "--developer", str(folder)], stdout=self.log, stderr=self.log)
        self.wait(lambda: "first screen" in (output / "log.txt").read_text(), "the first screen")
        print(f"the first screen came after {time.monotonic() - started:.2f} s", flush=True)
        self.window = int(do("search", "--sync", "--onlyvisible", "--pid", self.process.pid).split()[-1])
        do("windowactivate", "--sync", self.window)

    def close(self):
        do("key", "ctrl+q")
        try:
            status = self.process.wait(LIMIT)
            if status != 0:
                fault(f"the gallery ended with {status}")
        except subprocess.TimeoutExpired:
            fault("the gallery does not end")
            self.process.kill()
        self.log.seek(0)
        text = self.log.read()
        print(text, end="")
        if "WARNING" in text or "CRITICAL" in text:
            fault("GTK warns")

    def load(self):
        self.pictures = {name: Image.open(path).convert("RGB") for name, path in self.files.items()}

    def wait(self, isDone, what):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if self.process.poll() is not None:
                sys.exit(f"gallery-session: the gallery has ended with {self.process.returncode}")
            if isDone():
                return True
            time.sleep(0.02)
        fault(f"{what} did not come in {LIMIT} s")
        return False

    def title(self):
        return display.title(self.window)

    # ---- The picture on the display ----

    def place(self, name, area):
        """The rectangle of a picture that is shown as a whole."""
        x, y, width, height = area
        picture = self.pictures[name]
        zoom = min(width / picture.width, height / picture.height, 1)
        wide, high = max(1, round(picture.width * zoom)), max(1, round(picture.height * zoom))
        return x + (width - wide) // 2, y + (height - high) // 2, wide, high

    def expected(self, name, wide, high):
        picture = self.pictures[name]
        small = picture if (wide, high) == picture.size else picture.resize((wide, high), Image.LANCZOS)
        return numpy.asarray(small, dtype=numpy.float32)

    def difference(self, screen, name):
        """The mean difference of what is shown from a file, in steps of 255."""
        x, y, wide, high = self.place(name, self.area)
        expected, least = self.expected(name, wide, high), 255.0
        # Halves of pixels may be rounded either way.
        for across in (0, 1):
            for down in (0, 1):
                shown = screen[y + down:y + down + high, x + across:x + across + wide].astype(numpy.float32)
                least = min(least, float(numpy.abs(shown - expected[:shown.shape[0], :shown.shape[1]]).mean()))
        return least

    def find_area(self):
        """Finds where in the window photographs are, by the colour around one that is smaller."""
        words = do("getwindowgeometry", "--shell", self.window).split()
        shell = dict(word.split("=") for word in words)
        x, y, width, height = (int(shell[key]) for key in ("X", "Y", "WIDTH", "HEIGHT"))
        screen = display.grab()
        right, bottom = x + width - 20, y + height - 20
        isAround = (screen == screen[bottom, right]).all(axis=2)
        while isAround[bottom + 1, right]:
            bottom += 1
        while isAround[bottom, right + 1]:
            right += 1
        left, top = right, bottom
        while isAround[bottom, left - 1]:
            left -= 1
        while isAround[top - 1, right]:
            top -= 1
        return left, top, right - left + 1, bottom - top + 1

    def take_samples(self):
        """Notes, for each picture, some of its pixels and where they are when it is shown as a whole."""
        self.samples = {}
        for name in self.files:
            x, y, wide, high = self.place(name, self.area)
            rows, columns = numpy.linspace(4, high - 5, 24).astype(int), numpy.linspace(4, wide - 5, 24).astype(int)
            blurred = self.pictures[name].resize((wide, high), Image.LANCZOS).reduce(3).resize((wide, high), Image.BILINEAR)
            pixels = numpy.asarray(blurred, dtype=numpy.float32)[numpy.ix_(rows, columns)]
            self.samples[name] = (numpy.ix_(rows + y, columns + x), pixels)

    def identify(self, screen):
        """The picture that is shown as a whole, blurred or not; None if there is none."""
        best, least = None, SAME
        for name, (places, pixels) in self.samples.items():
            difference = float(numpy.abs(screen[places].astype(numpy.float32) - pixels).mean())
            if difference < least:
                best, least = name, difference
        return best

    def expect(self, step, name):
        """Waits until a picture and its title are there, sharp; takes a screenshot."""
        if not self.wait(lambda: self.title() == name, f"{step}: the title {name}"):
            print("the title is", self.title())
        self.wait(lambda: self.difference(display.grab(), name) < SHARP, f"{step}: the sharp picture {name}")
        screen = display.grab()
        print(f"{step}: {self.title()}, {self.difference(screen, name):.1f} from its file", flush=True)
        Image.fromarray(screen).save(output / f"{step}.png")

    def expect_grid(self, step):
        self.wait(lambda: self.title() == self.folder.name, f"{step}: the title of the grid")
        time.sleep(0.8)
        Image.fromarray(display.grab()).save(output / f"{step}.png")
        print(f"{step}: {self.title()}", flush=True)

    def expect_part(self, step, name, left, top):
        """Expects a picture at its actual size, whose pixel at the middle of the view is given."""
        x, y, width, height = self.area
        picture = numpy.asarray(self.pictures[name], dtype=numpy.float32)
        high, wide = min(height, picture.shape[0]), min(width, picture.shape[1])

        def difference():
            screen = display.grab()[y + (height - high) // 2:, x + (width - wide) // 2:][:high, :wide].astype(numpy.float32)
            best = 255.0
            # Halves of pixels may be rounded either way.
            for down in (-1, 0, 1):
                for across in (-1, 0, 1):
                    row = min(max(round(top - high / 2) + down, 0), picture.shape[0] - high)
                    column = min(max(round(left - wide / 2) + across, 0), picture.shape[1] - wide)
                    part = picture[row:row + high, column:column + wide]
                    best = min(best, float(numpy.abs(screen - part).mean()))
            return best

        self.wait(lambda: difference() < SHARP, f"{step}: the pixels of {name} around {left:.0f}, {top:.0f}")
        print(f"{step}: {difference():.1f} from its file", flush=True)
        Image.fromarray(display.grab()).save(output / f"{step}.png")

    def memory(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(text.split("Anonymous:")[1].split()[0]) / 1024

    def peak(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split("VmHWM:")[1].split()[0]) / 1024


class Watch(threading.Thread):
    """Compares the picture on the display with the title, again and again."""

    def __init__(self, session):
        super().__init__(daemon=True)
        self.session, self.isOver, self.samples = session, False, []
        session.take_samples()

    def run(self):
        while not self.isOver:
            before = self.session.title()
            screen = display.grab()
            moment, after = time.monotonic(), self.session.title()
            shown = self.session.identify(screen)
            self.samples.append((moment, before, after, shown, None if shown in (before, None) else screen))
            time.sleep(0.01)

    def finish(self):
        self.isOver = True
        self.join()
        changed, last, longest, blank, counted = 0.0, None, 0.0, 0, 0
        for moment, before, after, shown, screen in self.samples:
            if before != last:
                last, changed = before, moment
            if before != after or before not in self.session.files:
                continue
            counted += 1
            if shown is None:
                blank += 1
            elif shown != before:
                lag = moment - changed
                longest = max(longest, lag)
                if lag > LAG:
                    fault(f"{shown} is shown under the title {before} for {lag:.2f} s")
                    Image.fromarray(screen).save(output / f"wrong-{before}-{shown}.png")
        print(f"of {counted} samples {blank} showed no picture; the longest time of a picture under the next title was "
              f"{longest * 1000:.0f} ms", flush=True)
        self.samples = []


def main():
    shutil.rmtree(output, ignore_errors=True)
    home = output / "home"
    home.mkdir(parents=True)
    photos = output / "photos"
    make_pictures(sys.argv[2], photos)
    names = sorted(path.name for path in photos.iterdir())
    session = Session(sys.argv[1], photos)
    session.expect_grid("grid")

    do("key", "Home", "Return")
    session.wait(lambda: session.title() == names[0], "the first title")
    time.sleep(1)
    session.area = session.find_area()
    print("photographs are at", session.area)
    session.expect("open", names[0])

    watch = Watch(session)
    watch.start()
    for number in range(1, 51):
        do("key", "Right")
        # In a hurry first, and then as somebody who looks at them.
        if number > 25:
            session.wait(lambda: session.title() == names[number], f"the title {names[number]}")
            session.wait(lambda: session.difference(display.grab(), names[number]) < SHARP, f"the sharp picture {names[number]}")
    session.expect("next", names[50])
    watch.finish()

    # Zoom and pan, on one that is larger than the window.
    number = next(number for number in range(50, 0, -1) if session.pictures[names[number]].width > 1500)
    for _ in range(50 - number):
        do("key", "Left")
    name = names[number]
    session.expect("previous", name)
    width, height = session.pictures[name].size
    do("key", "1")
    session.expect_part("actual-size", name, width / 2, height / 2)
    x, y, wide, high = session.area
    do("mousemove", x + wide // 2, y + high // 2, "mousedown", 1)
    for step in range(1, 9):
        do("mousemove", x + wide // 2 - 20 * step, y + high // 2 - 10 * step)
    do("mouseup", 1)
    session.expect_part("pan", name, width / 2 + 160, min(height / 2 + 80, height - high / 2) if height > high else height / 2)
    do("click", "--repeat", 3, "--delay", 60, 4)
    time.sleep(1)
    Image.fromarray(display.grab()).save(output / "wheel.png")
    if session.title() != name:
        fault(f"the title is {session.title()} after the wheel")
    do("key", "0")
    session.expect("fit", name)

    window_area = session.area
    do("key", "F11")
    session.area = (0, 0, WIDTH, HEIGHT)
    session.expect("full-screen", name)
    do("key", "Right")
    session.expect("full-screen-next", names[number + 1])
    do("key", "Left", "F11")
    session.area = window_area
    session.expect("window", name)
    do("key", "F9")
    time.sleep(1)
    Image.fromarray(display.grab()).save(output / "information.png")
    do("key", "F9")

    do("key", "Delete")
    session.expect("trash", names[number + 1])
    session.wait(lambda: not (photos / name).exists(), "the way into the trash")
    if not (home / ".local/share/Trash/files" / name).exists():
        fault(f"{name} is not in the trash")
    do("key", "ctrl+z")
    session.expect("undo", name)
    if not (photos / name).exists():
        fault(f"{name} is not back")

    # Another program changes the file: the picture changes, without a frame of anything else.
    replacement = session.pictures[name].transpose(Image.FLIP_LEFT_RIGHT)
    replacement.save(output / "other.png", compress_level=1)
    frames = []
    shutil.move(output / "other.png", photos / name)
    end = time.monotonic() + 2
    while time.monotonic() < end:
        frames.append(display.grab())
        time.sleep(0.02)
    old = [session.difference(frame, name) for frame in frames]
    session.pictures[name] = replacement
    new = [session.difference(frame, name) for frame in frames]
    flickers = sum(1 for one, other in zip(old, new) if min(one, other) > 3 * SHARP)
    print(f"reload: {flickers} of {len(frames)} frames showed neither the old nor the new picture", flush=True)
    if flickers > 0 or new[-1] > SHARP:
        fault(f"the changed file was shown with {flickers} frames of something else, and is {new[-1]:.1f} from the file")

    do("key", "Escape")
    session.expect_grid("back")
    do("key", "Right", "Return")
    session.expect("back-and-next", names[number + 1])
    do("key", "Escape")
    session.expect_grid("back-again")
    do("key", "ctrl+f")
    time.sleep(0.5)
    do("type", "01")
    session.expect_grid("search")
    do("key", "Escape")
    session.expect_grid("search-cleared")
    do("key", "ctrl+shift+s", "ctrl+shift+o")
    session.expect_grid("statistics")
    do("key", "ctrl+shift+s", "ctrl+shift+o")

    # Memory stays flat.
    def rounds(count):
        for number in range(count):
            do("key", "Return")
            session.wait(lambda: session.title() in session.files, "an open picture")
            do("key", "Right", "Escape")
            session.wait(lambda: session.title() == photos.name, "the grid")
        time.sleep(1)

    rounds(50)
    before = session.memory()
    rounds(50)
    after = session.memory()
    print(f"memory: {before:.1f} MB after 50 rounds, {after:.1f} MB after 100; {session.peak():.0f} MB at most")
    if after > before + GROWTH:
        fault(f"50 rounds of opening and closing took {after - before:.1f} MB")

    narrow(session)
    session.close()
    edits(sys.argv[1])
    animations(sys.argv[1])
    print(f"{len(faults)} faults; the screenshots are in .build/gallery-session")


def narrow(session):
    """Makes the window as narrow as that of a telephone, and goes on by keys after a click and after the menu."""
    def shell():
        return dict(word.split("=") for word in do("getwindowgeometry", "--shell", session.window).split())

    do("windowsize", session.window, 420, 700)
    session.wait(lambda: shell()["WIDTH"] == "420", "a width of 420")
    session.expect_grid("narrow")
    x, y = int(shell()["X"]), int(shell()["Y"])
    # The button that closes the window is the last one of the header bar.
    if display.grab()[y + 15:y + 40, x + 380:x + 405].std() < 5:
        fault("the end of the header bar is outside the narrow window")
    do("key", "Home", "Return")
    session.wait(lambda: session.title() in session.files, "a picture in the narrow window")
    # The information lies over the picture.
    do("key", "F9")
    time.sleep(1)
    if shell()["WIDTH"] != "420":
        fault("the information widens a narrow window to " + shell()["WIDTH"])
    Image.fromarray(display.grab()).save(output / "narrow-information.png")
    do("key", "F9", "F1")
    time.sleep(1)
    Image.fromarray(display.grab()).save(output / "shortcuts.png")
    do("key", "Escape")
    time.sleep(0.5)
    do("mousemove", x + 78, y + 26, "click", 1, "mousemove", x + 210, y + 400)
    first = session.title()
    do("key", "F10")
    time.sleep(0.5)
    Image.fromarray(display.grab()).save(output / "narrow-menu.png")
    do("key", "Escape")
    time.sleep(0.5)
    do("key", "Right")
    session.wait(lambda: session.title() not in (first, session.folder.name), "the next picture after a click and the menu")
    time.sleep(0.5)
    Image.fromarray(display.grab()).save(output / "narrow-photograph.png")


def edits(program):
    """Flips, turns and crops photographs and saves that, beside jpegtran; goes through the pages of a TIFF."""
    folder = output / "edits"
    folder.mkdir()
    x, y = numpy.meshgrid(numpy.arange(640), numpy.arange(480))
    picture = Image.fromarray(numpy.dstack((x * 255 // 640, y * 255 // 480, (x // 40 + y // 40) % 2 * 90)).astype(numpy.uint8))
    picture.save(folder / "1.jpg", quality=90, subsampling=2)
    picture.save(folder / "2.png")
    pages = [Image.new("RGB", size, color) for size, color in (((300, 200), (200, 30, 30)), ((200, 300), (30, 200, 30)), ((250, 250), (30, 30, 200)))]
    pages[0].save(folder / "3.tif", save_all=True, append_images=pages[1:])
    jpeg, png = folder / "1.jpg", folder / "2.png"
    original = jpeg.read_bytes()
    session = Session(program, folder, compares=False)
    do("key", "Home", "Return")
    session.wait(lambda: session.title() == "1.jpg", "the title 1.jpg")

    time.sleep(1)

    def center():
        # The pointer is in the middle.
        return display.grab()[HEIGHT // 2 - 60, WIDTH // 2 - 60].astype(int)

    def pixels(path):
        return numpy.asarray(Image.open(path).convert("RGB"), dtype=int)

    def save(step, expected):
        do("key", "ctrl+t")
        # The file is replaced all at once, so it is never a part of one.
        session.wait(lambda: pixels(jpeg).shape == expected.shape and numpy.abs(pixels(jpeg) - expected).mean() < 1.5, step)
        Image.fromarray(display.grab()).save(output / f"edit-{step.replace(' ', '-')}.png")

    before = pixels(jpeg)
    do("key", "h")
    save("flipped", before[:, ::-1])
    subprocess.run(["jpegtran", "-copy", "all", "-flip", "horizontal", "-outfile", output / "flipped.jpg", "/dev/stdin"],
                   input=original, check=True)
    if not numpy.array_equal(pixels(output / "flipped.jpg"), pixels(jpeg)):
        fault("the flipped JPEG is not jpegtran's")
    do("key", "v", "ctrl+r")
    save("flipped and turned", numpy.rot90(before[::-1, ::-1], -1))
    do("key", "ctrl+z", "ctrl+z")
    session.wait(lambda: jpeg.read_bytes() == original, "the undone turns")

    # The frame has a tenth less at each side, and is moved to the blocks of 16 pixels.
    do("key", "c")
    time.sleep(1.5)
    Image.fromarray(display.grab()).save(output / "edit-crop.png")
    do("key", "p")
    time.sleep(0.5)
    Image.fromarray(display.grab()).save(output / "edit-crop-preview.png")
    do("key", "p", "Return")
    expected = before[48:432, 64:576]
    session.wait(lambda: pixels(jpeg).shape == expected.shape, "the crop")
    session.wait(lambda: numpy.abs(pixels(jpeg) - expected).mean() < 1.5, "the pixels of the crop")
    subprocess.run(["jpegtran", "-copy", "all", "-crop", "512x384+64+48", "-outfile", output / "cropped.jpg", "/dev/stdin"],
                   input=original, check=True)
    if not numpy.array_equal(pixels(output / "cropped.jpg"), pixels(jpeg)):
        fault("the cropped JPEG is not jpegtran's")
    do("key", "ctrl+z")
    session.wait(lambda: jpeg.read_bytes() == original, "the undone crop")

    do("key", "Right")
    session.wait(lambda: session.title() == "2.png", "the title 2.png")
    time.sleep(1)
    do("key", "c")
    time.sleep(1)
    do("key", "ctrl+Right", "Return")
    session.wait(lambda: numpy.array_equal(pixels(png), numpy.asarray(picture, dtype=int)[48:432, 65:577]), "the crop of a PNG")

    do("key", "Right")
    session.wait(lambda: session.title() == "3.tif", "the title 3.tif")
    for step, color in (("page 1", 0), ("page 2", 1), ("page 3", 2)):
        session.wait(lambda: center()[color] > 180 and center().sum() < 300, step)
        Image.fromarray(display.grab()).save(output / f"edit-{step.replace(' ', '-')}.png")
        do("key", "Next")
    do("key", "Prior")
    session.wait(lambda: center()[1] > 180, "page 2 again")
    session.close()


def make_animations(target):
    """Writes an animation of each format: three frames of one colour each, or what the tests have."""
    target.mkdir(parents=True)
    frames = [Image.new("RGB", (400, 300), color) for color in ((200, 40, 40), (40, 200, 40), (40, 40, 200))]
    for name, more in (("1.gif", {}), ("2.apng", {"format": "PNG"}), ("3.webp", {})):
        frames[0].save(target / name, save_all=True, append_images=frames[1:], duration=200, loop=0, **more)
    for number, name in enumerate(("animated.avif", "animated.jxl"), 4):
        shutil.copy(pathlib.Path("Tests/CodecTests/Fixtures") / name, target / f"{number}.{name.split('.')[1]}")


def animations(program):
    folder = output / "animations"
    make_animations(folder)
    session = Session(program, folder, compares=False)
    names = sorted(path.name for path in folder.iterdir())
    do("key", "Home", "Return")

    def moves(step):
        """Waits for a second picture in the middle of the display."""
        seen = set()

        def has_moved():
            seen.add(display.grab()[HEIGHT // 2 - 40:HEIGHT // 2 + 40, WIDTH // 2 - 40:WIDTH // 2 + 40].tobytes())
            return len(seen) >= 3

        return session.wait(has_moved, step)

    count = 0
    for number in range(20):
        for name in names:
            session.wait(lambda: session.title() == name, f"the title {name}")
            count += moves(f"the motion of {name} in round {number}")
            if number == 0:
                Image.fromarray(display.grab()).save(output / f"animation-{name}.png")
            # Next, by the grid, and in full screen.
            if number % 3 == 1:
                do("key", "Escape")
                session.wait(lambda: session.title() == folder.name, "the grid")
                do("key", "Return")
                session.wait(lambda: session.title() == name, f"the title {name} again")
                moves(f"the motion of {name} after the grid in round {number}")
            if number % 3 == 2:
                do("key", "F11")
                moves(f"the motion of {name} in full screen in round {number}")
                do("key", "F11")
            do("key", "Home" if name == names[-1] else "Right")
    print(f"animations moved {count} of {20 * len(names)} times", flush=True)
    session.close()


runtime = tempfile.mkdtemp()
shutil.rmtree(output, ignore_errors=True)
output.mkdir(parents=True)
os.environ.update(HOME=str(output / "home"), XDG_RUNTIME_DIR=runtime, GDK_BACKEND="x11", GSK_RENDERER="cairo",
                  LIBGL_ALWAYS_SOFTWARE="1", GDK_DEBUG="gl-disable", GTK_A11Y="none")
for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "DBUS_SESSION_BUS_ADDRESS"):
    os.environ.pop(name, None)
display = Display(runtime)
manager = subprocess.Popen(["openbox"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    main()
finally:
    manager.kill()
    display.server.send_signal(signal.SIGTERM)
    display.server.wait()
    shutil.rmtree(runtime, ignore_errors=True)
sys.exit(1 if faults else 0)
