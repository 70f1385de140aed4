#!/usr/bin/python3
"""Has other programs read what Vitrine writes: pixels, frames, delays and metadata. Prints a table.

`conformance-encoding.py TOOL` fails if a program refuses a file, or reads other pixels from it than it should.
"""
import io
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageSequence

tool = Path(sys.argv[1]).resolve()
folder = Path(tempfile.mkdtemp(prefix="vitrine-encoding-"))
failures = 0


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, **options).stdout


def write(source, name, *options):
    run(tool, "thumbnail", source, "-o", folder / name, *options)
    return folder / name


# Pictures, as arrays of RGBA.


def picture(kind, width=213, height=141):
    y, x = np.mgrid[0:height, 0:width]
    noise = np.random.default_rng(7).integers(0, 9, (height, width))
    result = np.zeros((height, width, 4), np.uint8)
    result[..., 3] = 255
    light = (110 + 60 * np.sin(x / 40) * np.cos(y / 30) + noise).astype(np.uint8)
    if kind == "photograph":
        result[..., 0], result[..., 1], result[..., 2] = light, light // 2 + 60, 220 - light
    elif kind == "grey":
        result[..., :3] = light[..., None]
    elif kind == "four greys":
        result[..., :3] = ((x // 9 + y // 7) % 4 * 85).astype(np.uint8)[..., None]
    elif kind == "palette":
        result[..., 0], result[..., 1] = (x // 20) % 6 * 40, (y // 20) % 5 * 50
    elif kind == "alpha":
        result[..., 0], result[..., 1], result[..., 2] = light, 40, 255 - light
        result[..., 3] = np.clip(x * 300 // width - 20, 0, 255)
    return result


def frames(count=4):
    result = []
    for number in range(count):
        frame = picture("palette", 90, 60)
        frame[10 : 30, 10 * number : 10 * number + 20] = (200, 30 * number, 90, 255)
        result.append(frame)
    return result


def saved(pixels, name):
    Image.fromarray(pixels, "RGBA").save(folder / name)
    return folder / name


# Decoders, which return an array of RGBA.


def pillow(path):
    return np.asarray(Image.open(path).convert("RGBA"))


def djpeg(path):
    return np.asarray(Image.open(io.BytesIO(run("djpeg", "-dct", "int", path))).convert("RGBA"))


def dwebp(path):
    return through("dwebp", path, "-o")


def djxl(path):
    return through("djxl", path)


def avifdec(path):
    return through("avifdec", path)


def through(program, path, *flags):
    made = path.with_suffix(f".{program}.png")
    run(program, path, *flags, made)
    return pillow(made)


def magick(path):
    return through("convert", path)


def ffmpeg(path, size):
    raw = run("ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgba", "-")
    return np.frombuffer(raw, np.uint8).reshape(size)


def visible(pixels):
    """The pixels without the colours of transparent ones."""
    pixels = pixels.copy()
    pixels[pixels[..., 3] == 0] = 0
    return pixels


def psnr(one, other):
    """Of colours times coverage, and of coverage."""
    one, other = (np.concatenate([p[..., :3] * (p[..., 3:] / 255.0), p[..., 3:]], 2) for p in (one, other))
    error = np.mean((one - other) ** 2)
    return math.inf if error == 0 else 10 * math.log10(255**2 / error)


def row(name, path, reader, outcome, is_good):
    global failures
    failures += not is_good
    size = path.stat().st_size if path else 0
    print(f"| {name} | {size:,} | {reader} | {outcome} | {'' if is_good else 'DIFFERS'} |", flush=True)


def compare(name, path, original, readers, bound=None):
    """`bound` is the PSNR that lossy pixels must have; `None` means that they must be the same."""
    for reader, read in readers.items():
        try:
            found = read(path)
        except Exception as error:  # Whatever it is, the file was not read.
            detail = getattr(error, "stderr", b"") or str(error).encode()
            reason = detail.decode(errors="replace").strip()[:90].replace("\n", " ")
            row(name, path, reader, f"refused: {reason}", False)
            continue
        if found.shape != original.shape:
            row(name, path, reader, f"{found.shape[1]}x{found.shape[0]} pixels", False)
        elif bound is None:
            is_same = np.array_equal(visible(found), visible(original))
            row(name, path, reader, "the same pixels" if is_same else f"{psnr(found, original):.1f} dB", is_same)
        else:
            value = psnr(found, original)
            row(name, path, reader, f"{value:.1f} dB, at least {bound}", value >= bound)


def check(name, path, reader, *command):
    try:
        run(*command)
        row(name, path, reader, "no complaint", True)
    except subprocess.CalledProcessError as error:
        row(name, path, reader, (error.stdout + error.stderr).decode(errors="replace").strip()[:120], False)


def stills():
    for kind in ["photograph", "grey", "four greys", "palette", "alpha"]:
        original = picture(kind)
        source = saved(original, f"{kind}-source.png")
        path = write(source, f"{kind}.png")
        compare(f"PNG, {kind}", path, original, {"Pillow": pillow, "ImageMagick": magick})
        check(f"PNG, {kind}", path, "pngcheck", "pngcheck", "-q", path)
        path = write(source, f"{kind}.qoi")
        compare(f"QOI, {kind}", path, original, {"ffmpeg": lambda path: ffmpeg(path, original.shape)})
        for name, read in [("webp", dwebp), ("jxl", djxl), ("avif", avifdec)]:
            readers = {read.__name__: read} | ({"Pillow": pillow} if name == "webp" else {})
            path = write(source, f"{kind}-lossless.{name}", "--lossless")
            compare(f"{name}, lossless, {kind}", path, original, readers)
            path = write(source, f"{kind}.{name}", "--quality", "90")
            compare(f"{name}, lossy, {kind}", path, original, readers, 26 if kind == "palette" else 33)
    original = picture("photograph")
    source = folder / "photograph-source.png"
    for name, options, bound in [
        ("baseline", [], 34), ("progressive", ["--progressive"], 34), ("4:4:4", ["--subsampling", "444"], 36),
        ("4:2:2", ["--subsampling", "422"], 34), ("of quality 30", ["--quality", "30"], 30),
    ]:
        path = write(source, f"{name.replace(':', '')}.jpg", *options)
        compare(f"JPEG, {name}", path, original, {"djpeg": djpeg, "Pillow": pillow, "ImageMagick": magick}, bound)
    for kind, bound in [("palette", None), ("four greys", None), ("photograph", 24)]:
        path = write(folder / f"{kind}-source.png", f"{kind}.gif")
        compare(f"GIF, {kind}", path, picture(kind), {"Pillow": pillow, "ImageMagick": magick}, bound)


def animations():
    originals, delays = frames(), [100, 40, 250, 100]
    source = folder / "moving.webp"
    first, *rest = [Image.fromarray(frame, "RGBA") for frame in originals]
    first.save(source, save_all=True, append_images=rest, duration=delays, lossless=True, loop=3)

    def moving(path):
        image = Image.open(path)
        pairs = []
        for frame in ImageSequence.Iterator(image):
            pixels = np.asarray(frame.convert("RGBA"))
            pairs.append((pixels, frame.info["duration"]))
        return pairs

    def together(name, path, reader, pairs, bound=None, told=True):
        found = [delay for _, delay in pairs]
        if told and found != delays:
            return row(name, path, reader, f"delays {found}", False)
        if len(pairs) != len(originals):
            return row(name, path, reader, f"{len(pairs)} frames", False)
        worst = min(psnr(pixels, original) for (pixels, _), original in zip(pairs, originals))
        if bound is None:
            outcome = f"{len(pairs)} frames, the same" if worst == math.inf else f"{worst:.1f} dB"
            row(name, path, reader, outcome, worst == math.inf)
        else:
            row(name, path, reader, f"{len(pairs)} frames, {worst:.1f} dB, at least {bound}", worst >= bound)

    path = write(source, "moving.gif", "--animated")
    together("GIF, animated", path, "Pillow", moving(path))
    path = write(source, "moving-lossless.webp", "--animated", "--lossless")
    together("webp, animated, lossless", path, "Pillow", moving(path))
    check("webp, animated, lossless", path, "webpmux", "webpmux", "-info", path)
    path = write(source, "moving-lossy.webp", "--animated", "--quality", "90")
    together("webp, animated, lossy", path, "Pillow", moving(path), 20)

    def numbered(pattern):
        return [(pillow(path), None) for path in sorted(folder.glob(pattern))]

    path = write(source, "moving.jxl", "--animated", "--lossless")
    run("djxl", path, folder / "moving-jxl.png")
    image = Image.open(folder / "moving-jxl.png")
    together("jxl, animated, lossless", path, "djxl", [
        (np.asarray(frame.convert("RGBA")), round(frame.info["duration"])) for frame in ImageSequence.Iterator(image)
    ])
    path = write(source, "moving.avif", "--animated", "--lossless")
    for index in range(len(originals)):
        run("avifdec", "--index", index, path, folder / f"moving-avif-{index}.png")
    together("avif, animated, lossless", path, "avifdec", numbered("moving-avif-*.png"), told=False)


def metadata():
    source = folder / "located.jpg"
    Image.fromarray(picture("photograph"), "RGBA").convert("RGB").save(source, quality=95)
    secrets = {"GPSLatitude": "41.6311187", "GPSLongitude": "131.7187", "GPSDateStamp": "2011:03:27"}
    run(
        "exiftool", "-q", "-overwrite_original", "-n", "-Copyright=Rights of Zoe", "-Artist=Zoe Example",
        "-Make=Vitrine Optics", "-Model=Model 1", "-DateTimeOriginal=2024:02:29 23:59:58", "-ISO=400",
        "-GPSLatitudeRef=N", "-GPSLongitudeRef=E", "-XMP-exif:GPSLatitude=41.6311187", "-XMP-dc:Rights=Rights of Zoe",
        *[f"-EXIF:{key}={value}" for key, value in secrets.items()], source,
    )

    def tags(path):
        return json.loads(run("exiftool", "-j", "-n", "-G1", path))[0]

    def texts(found):
        return {key.split(":")[-1]: str(value) for key, value in found.items()}

    before = texts(tags(source))
    # As they are in EXIF: the numbers of the fractions, in both byte orders, are searched in the whole file.
    raw = source.read_bytes()
    place = raw.find(b"2011:03:27")
    assert place > 0
    kept_keys = ["Copyright", "Artist", "Make", "Model", "DateTimeOriginal", "ISO", "GPSLatitude", "GPSLongitude"]
    for name in ["jpg", "png", "webp", "avif", "jxl", "gif", "qoi"]:
        for policy in ["strip", "keep", "copyright,camera"]:
            path = write(source, f"{policy.split(',')[0]}.{name}", "--metadata", policy)
            data = path.read_bytes()
            label = f"{name}, metadata: {policy}"
            if policy != "keep":
                leaks = [text for text in (b"GPS", b"2011:03:27", b"41.63", b"41,37") if text in data]
                # The bytes of latitude and longitude, from the source.
                for index in range(place - 64, place):
                    if raw[index : index + 8] in data and len(set(raw[index : index + 8])) > 4:
                        leaks.append(raw[index : index + 8])
                row(label, path, "every byte", f"{leaks}" if leaks else "nothing of the place", not leaks)
            # Neither has a place for EXIF, nor does exiftool read QOI.
            if name in ["qoi", "gif"]:
                continue
            found = texts(tags(path))
            expected = {"strip": [], "keep": kept_keys, "copyright,camera": ["Copyright", "Make", "Model"]}[policy]
            wrong = [key for key in kept_keys if found.get(key) != (before.get(key) if key in expected else None)]
            outcome = f"{len(expected)} fields, the same" if expected else "no field"
            row(label, path, "exiftool", "other " + ", ".join(wrong) if wrong else outcome, not wrong)
            warnings = run("exiftool", "-validate", "-warning", "-error", "-a", path).decode()
            if "Error" in warnings:
                row(label, path, "exiftool", warnings.strip()[:120], False)


print("# What other programs read from Vitrine's files\n")
print("Pixels are the same, or have a PSNR of so much at least; metadata is that of the original as far as the")
print("policy allows. `make check NAME=conformance PARTS=encoding` fails where a line says DIFFERS.\n")
print("| file | bytes | read by | | |\n|---|---:|---|---|---|")
stills()
animations()
metadata()
print(f"\n{failures} differ." if failures else "\nNone differs.")
sys.exit(1 if failures else 0)
