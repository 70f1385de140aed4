"""A virtual display whose pixels are in a file, which is read without asking the display."""
import os
import subprocess

import numpy


class Xvfb:
    """Starts Xvfb, sets DISPLAY, and maps the pixels: `pixels` has rows of blue, green, red and an unused byte."""

    def __init__(self, folder, width, height):
        reading, writing = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24", "-fbdir", folder, "-nolisten", "tcp"],
            pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        os.environ["DISPLAY"] = ":" + os.read(reading, 16).decode().strip()
        file = numpy.memmap(f"{folder}/Xvfb_screen0", dtype=numpy.uint8, mode="r")
        words = file[:100].view(">u4")
        start, stride = int(words[0]) + 12 * int(words[19]), int(words[12])
        self.pixels = file[start:start + stride * height].reshape(height, stride)[:, :4 * width].reshape(height, width, 4)
