#!/usr/bin/python3
"""Makes the reference pictures of the tests of processors.

Needs Debian's python3-pil, python3-numpy, python3-scipy and imagemagick; the tests need none of them. Run it in this
folder: ./make.py
"""
import subprocess

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

W, H = 64, 48


def save(name, pixels):
    Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8)).save(f"{name}.png", optimize=True)


def convert(source, name, *arguments):
    subprocess.run(["convert", f"{source}.png", *arguments, "-depth", "8", "-strip", f"PNG32:{name}.png"], check=True)


# A picture with smooth and hard parts and all hues.
y, x = np.mgrid[0:H, 0:W].astype(float)
red = 128 + 127 * np.sin(x / 5) * np.cos(y / 9)
green = np.where((x // 8 + y // 8) % 2 == 0, 230, 40) * (0.5 + 0.5 * y / H)
blue = 255 * ((x - 40) ** 2 + (y - 20) ** 2 < 200) * 0.7 + 60 * x / W
color = np.stack([red, green, blue], axis=-1)
save("opaque", color)
color = np.asarray(Image.open("opaque.png")).astype(float)

# The same in a soft disc; what cannot be seen is magenta, which must not show up anywhere.
coverage = np.clip((20 - np.hypot(x - 31.5, y - 23.5)) / 6 + 0.5, 0, 1)
hidden = np.where(coverage[..., None] > 0, color, [255, 0, 255])
save("alpha", np.dstack([hidden, coverage * 255]))
alpha = np.asarray(Image.open("alpha.png")).astype(float)


def premultiplied(picture):
    return np.dstack([picture[..., :3] * picture[..., 3:] / 255, picture[..., 3]])


def straight(picture):
    return np.dstack([np.where(picture[..., 3:] > 0, picture[..., :3] * 255 / np.maximum(picture[..., 3:], 1e-9), 0),
                      picture[..., 3]])


# SciPy: Gaussians in double precision, continued by the mirror image.
def blurred(picture, sigma):
    return gaussian_filter(picture, (sigma, sigma, 0), mode="reflect", truncate=6)


for sigma in (0.7, 2, 3.5, 8, 40):
    save(f"blur-{sigma}", blurred(color, sigma))
for sigma in (2, 8):
    save(f"blur-{sigma}-alpha", straight(blurred(premultiplied(alpha), sigma)))
save("sharpen", color + 1.5 * (color - np.rint(blurred(color, 2))))

# Shapes: the mean of 32x32 points in each pixel.
points = 32
fy, fx = ((np.mgrid[0:H * points, 0:W * points] + 0.5) / points).astype(np.float32)


def rounded(left, top, right, bottom, radii):
    inside = (fx > left) & (fx < right) & (fy > top) & (fy < bottom)
    corners = [(left, top, 1, 1), (right, top, -1, 1), (right, bottom, -1, -1), (left, bottom, 1, -1)]
    for (cx, cy, sx, sy), radius in zip(corners, radii):
        mx, my = cx + sx * radius, cy + sy * radius
        corner = ((fx - mx) * sx < 0) & ((fy - my) * sy < 0)
        inside &= ~(corner & ((fx - mx) ** 2 + (fy - my) ** 2 > radius ** 2))
    return inside


def share(inside):
    return inside.reshape(H, points, W, points).mean(axis=(1, 3))


save("corners", np.dstack([color, 255 * share(rounded(0, 0, W, H, [4, 10.5, 0, 20]))]))
save("circle", np.dstack([color, 255 * share(rounded(8, 0, 56, 48, [24] * 4))])[:, 8:56])
outer, inner = rounded(0, 0, W, H, [12] * 4), rounded(3, 3, W - 3, H - 3, [9] * 4)
ring, whole = share(outer & ~inner), share(outer)
part = np.where(whole > 0, ring / np.maximum(whole, 1e-9), 0)[..., None]
save("border", np.dstack([color * (1 - part) + np.array([32, 64, 208]) * part, 255 * whole]))

# Pillow: resizing, places, compositing.
opaque, soft = Image.open("opaque.png"), Image.open("alpha.png")
opaque.resize((20, 15), Image.Resampling.LANCZOS).save("resize.png", optimize=True)
opaque.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save("flip.png", optimize=True)
opaque.transpose(Image.Transpose.ROTATE_270).save("rotate-90.png", optimize=True)
Image.alpha_composite(Image.new("RGBA", soft.size, (255, 128, 0, 255)), soft).save("background.png", optimize=True)
cover = Image.new("RGBA", soft.size)
cover.paste(soft.crop((12, 4, 52, 44)), (20, 6))
Image.alpha_composite(opaque.convert("RGBA"), cover).save("overlay.png", optimize=True)
Image.blend(opaque, Image.new("RGB", opaque.size, (0, 96, 255)), 128 / 255).save("tint.png", optimize=True)

# ImageMagick: colours and blending.
# Without its filters for areas, which follow another rule; they leave a margin of one pixel.
convert("opaque", "rotate-30", "-alpha", "set", "-virtual-pixel", "transparent", "-filter", "point", "-interpolate",
        "catrom", "+distort", "SRT", "30", "+repage", "-gravity", "center", "-crop", "80x74+0+0", "+repage")
convert("opaque", "grayscale", "-grayscale", "Rec709Luma")
convert("opaque", "brightness", "-evaluate", "add", "20%")
convert("opaque", "contrast", "-function", "polynomial", "1.5,-0.25")
convert("opaque", "exposure", "-colorspace", "RGB", "-evaluate", "multiply", "2", "-colorspace", "sRGB")
weights = np.array([0.2126, 0.7152, 0.0722])
matrix = 1.5 * np.eye(3) - 0.5 * np.tile(weights, (3, 1))
convert("opaque", "saturation", "-color-matrix", " ".join(str(value) for value in matrix.flatten()))
# The W3C's "Filter Effects Module Level 1", 13.5.
sepia = "0.393 0.769 0.189 0.349 0.686 0.168 0.272 0.534 0.131"
convert("opaque", "sepia", "-color-matrix", sepia)
cover.save("cover.png")
for mode in ("Multiply", "Screen"):
    convert("opaque", f"overlay-{mode.lower()}", "cover.png", "-compose", mode, "-composite")
subprocess.run(["rm", "cover.png"], check=True)
