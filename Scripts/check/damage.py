#!/usr/bin/python3
"""Counts the rows of cut files that Vitrine and Pillow show. Prints a table.

`damage.py TOOL PHOTOGRAPHS SHEET` fails if Vitrine shows fewer rows of a file, or rows that the file has not.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFile

from checks import check, finish

ImageFile.LOAD_TRUNCATED_IMAGES = True
CUTS = (10, 30, 60, 90, 99)
# A row is right if its pixels differ by this much in the mean. Rows that are only coarse may differ more.
EXACT, COARSE = 0.5, 24
# The row of blocks in which a baseline JPEG ends is shown although some of its blocks are missing.
BLOCKS = 18
# What is coarse first, and how many rows end inside a row of blocks.
KINDS = [
    ("JPEG, baseline", "macaws-444.jpg", False, BLOCKS),
    ("JPEG, 4:2:0, large", "waterfall-cliff-large.jpg", False, BLOCKS),
    ("JPEG, grey", "statue-grey.jpg", False, BLOCKS),
    ("JPEG, progressive", "lighthouse-progressive.jpg", True, 0),
    ("PNG", "aeroplane-rgb.png", False, 0),
    ("PNG, palette", "red-door-palette.png", False, 0),
    ("PNG, interlaced", "white-lighthouse-adam7.png", True, 0),
    ("GIF", "rafting-still.gif", False, 0),
    ("GIF, interlaced", "spinnakers-interlaced.gif", True, 0),
    ("GIF, animated", "boats-animated.gif", False, 0),
    ("WebP, lossy", "motocross-lossy.webp", False, 0),
    ("WebP, lossy, alpha", "yacht-lossy-alpha.webp", False, 0),
    ("WebP, lossless", "harbour-pier-lossless.webp", False, 0),
    ("WebP, animated", "houses-animated.webp", False, 0),
]

tool, photographs, sheet = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path(sys.argv[3])
scratch = tempfile.TemporaryDirectory(prefix="vitrine-damage-")
folder = Path(scratch.name)


def ours(file, *options):
    """The picture and its damage; None if it is refused."""
    output = folder / "out.png"
    done = subprocess.run(
        [tool, "thumbnail", file, "-o", output, "--damaged", "show", "--json", *options],
        capture_output=True, text=True,
    )
    if done.returncode not in (0, 1):
        sys.exit(f"the tool ends with {done.returncode}: {done.stderr}")
    line = json.loads(done.stdout)
    if line["error"]:
        return None, line["error"]
    is_said = f"vitrine: {file}: damaged" in done.stderr
    check_quietly(is_said == bool(line["damage"]), f"{file}: {line['damage']}, but {done.stderr!r}")
    return np.asarray(Image.open(output).convert("RGBA")).astype(int), line["damage"]


def pillows(file):
    """The picture as Pillow reads it; None if it refuses it."""
    try:
        with Image.open(file) as image:
            return np.asarray(image.convert("RGBA")).astype(int)
    except (OSError, SyntaxError, ValueError):
        return None


def check_quietly(is_right, text):
    if not is_right:
        check(False, text)


def rows(picture, whole, tolerance):
    """Which rows are those of the whole picture."""
    if picture is None or picture.shape != whole.shape:
        return np.zeros(whole.shape[0], bool)
    # The colours of transparent pixels do not count.
    differences = np.abs(picture * (picture[..., 3:] > 0) - whole * (whole[..., 3:] > 0))
    return differences.mean(axis=(1, 2)) <= tolerance


def shown(picture):
    return (picture[..., 3] > 0).any(axis=1)


def thumbnail(picture):
    """A small picture for the sheet, on a chequered ground."""
    cell = Image.new("RGB", (150, 120), (60, 60, 60))
    if picture is None:
        ImageDraw.Draw(cell).text((50, 50), "refused", fill=(255, 120, 120))
        return cell
    image = Image.fromarray(picture.astype(np.uint8), "RGBA")
    image.thumbnail((146, 116))
    ground = Image.new("RGB", image.size, (190, 60, 190))
    ground.paste(image, mask=image.getchannel("A"))
    cell.paste(ground, ((150 - image.width) // 2, (120 - image.height) // 2))
    return cell


print(f"Rows of a file cut at a share of its bytes: Vitrine / Pillow {Image.__version__}\n")
print(f"{'':20}{'rows':>6}" + "".join(f"{cut:>12} %" for cut in CUTS))
canvas = Image.new("RGB", (130 + 300 * len(CUTS), 125 * len(KINDS)), "black")
draw = ImageDraw.Draw(canvas)
lacking, invented = [], []
for number, (kind, name, is_coarse, edge) in enumerate(KINDS):
    data = (photographs / name).read_bytes()
    whole, reference = ours(photographs / name)[0], pillows(photographs / name)
    line = f"{kind:20}{len(whole):>6}"
    draw.text((5, 125 * number + 50), kind, fill="white")
    tolerance = COARSE if is_coarse else EXACT
    for column, cut in enumerate(CUTS):
        file = folder / f"cut-{cut}{Path(name).suffix}"
        file.write_bytes(data[: len(data) * cut // 100])
        picture, damage = ours(file)
        other = pillows(file)
        good = rows(picture, whole, tolerance)
        count, others = int(good.sum()), int(rows(other, reference, tolerance).sum())
        line += f"{f'{count} / {others}':>14}"
        if count < others:
            lacking.append(f"{kind} at {cut} %: {count} rows, Pillow {others}")
        if picture is not None:
            false = int((shown(picture) & ~good).sum())
            if not is_coarse and false > edge:
                invented.append(f"{kind} at {cut} %: {false} rows that the file has not")
            if not damage and not rows(picture, whole, EXACT).all():
                invented.append(f"{kind} at {cut} %: counts as whole")
        for offset, shot in ((0, picture), (150, other)):
            canvas.paste(thumbnail(shot), (130 + 300 * column + offset, 125 * number))
    print(line, flush=True)
sheet.parent.mkdir(parents=True, exist_ok=True)
canvas.save(sheet)
print(f"\nThe sheet is {sheet}: of each pair, Vitrine's is on the left; what is missing is purple.")
for text in lacking + invented:
    check(False, text)
check(not lacking, "no file shows fewer rows than with Pillow")
check(not invented, "no rows are shown that a file has not")
finish()
