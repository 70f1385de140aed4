#!/usr/bin/env python3
"""Plays random combinations of options against a second calculation of what they mean.

    geometry.py SERVER [--count N] [--seed N] [--threads N]

SERVER is the program. The calculation follows imgproxy's documentation, step by step: trim, crop, resize, turns, crop to the
box, canvas, padding, watermark. Each picture says in its red and green where a pixel was, and in its blue that it is the
picture's, so that sizes, places and turns are all seen in the answer. A side may differ by a pixel, a place by a pixel of the
result.
"""
import argparse
import http.client
import io
import itertools
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import local as thread_local
from typing import Callable

from PIL import Image, ImageChops

from services import Fleet

# The blue of pictures; the watermark is all blue.
BLUE = 128
MARK = (30, 14)
LARGEST = 1600


def rounded(number):
    """Rounds halves away from zero, as sizes are."""
    return int(number + 0.5) if number >= 0 else -int(0.5 - number)


def even(number):
    """Rounds halves to even numbers, as distances are."""
    return round(number)


# MARK: - Pictures

@dataclass
class Picture:
    """A size, the point of the source for each point, and the part that shows the source."""

    width: int
    height: int
    back: Callable = lambda x, y: (x, y)
    shown: tuple = None

    def __post_init__(self):
        self.shown = self.shown or (0, 0, self.width, self.height)

    def cropped(self, left, top, width, height):
        return Picture(width, height, lambda x, y: self.back(x + left, y + top))

    def resized(self, width, height):
        return Picture(width, height, lambda x, y: self.back(x * self.width / width, y * self.height / height))

    def turned(self, angle):
        """Turned clockwise."""
        if angle % 360 == 0:
            return self
        turn = Picture(self.height, self.width, lambda x, y: self.back(y, self.height - x))
        return turn.turned(angle - 90)

    def mirrored(self, columns=True, rows=False):
        return Picture(self.width, self.height, lambda x, y: self.back(
            self.width - x if columns else x, self.height - y if rows else y))

    def placed(self, left, top, width, height):
        """On a larger canvas."""
        x, y, *sides = self.shown
        return Picture(width, height, lambda a, b: self.back(a - left, b - top), (x + left, y + top, *sides))


@dataclass
class Source:
    """A file that the script has made: a picture within a frame, stored in some orientation."""

    name: str
    width: int
    height: int
    orientation: int = 1
    # Left, top, right, bottom.
    frame: tuple = (0, 0, 0, 0)
    color: tuple = None

    def write(self, folder):
        left, top, right, bottom = self.frame
        kind = "RGBA" if self.color and len(self.color) == 4 else "RGB"
        image = Image.new(kind, (self.width, self.height), self.color)
        for y in range(top, self.height - bottom):
            for x in range(left, self.width - right):
                pixel = (x, y, BLUE)
                image.putpixel((x, y), pixel + (255,) if kind == "RGBA" else pixel)
        exif = Image.Exif()
        exif[0x0112] = self.orientation
        image.save(f"{folder}/{self.name}", lossless=True, **({"exif": exif} if self.orientation != 1 else {}))

    def shows(self, point, margin):
        """True if what is around a point is none of the frame."""
        left, top, right, bottom = self.frame
        inside = (left, self.width - right), (top, self.height - bottom)
        return all(low == 0 and high == side or low + 3 * max(step, 1) <= place <= high - 3 * max(step, 1) for (low, high), place, step, side in
                   zip(inside, point, margin, (self.width, self.height)))

    def upright(self, picture):
        """The picture after its orientation, which EXIF numbers."""
        turns = {3: 180, 4: 180, 5: 90, 6: 90, 7: 270, 8: 270}
        picture = picture.turned(turns.get(self.orientation, 0))
        return picture.mirrored() if self.orientation in (2, 4, 5, 7) else picture


SOURCES = [
    Source("geometry.png", 200, 100), Source("odd.png", 101, 67), Source("high.png", 64, 180), Source("square.png", 33, 33),
    Source("wide.png", 250, 5), Source("narrow.png", 7, 240),
    *(Source(f"turned-{number}.{kind}", 120, 79, number) for number in range(2, 9) for kind in ("webp", "png")),
]
FRAMED = [
    Source("yellow.png", 150, 90, frame=(9, 3, 5, 17), color=(255, 255, 0)),
    Source("clear.png", 150, 90, frame=(9, 23, 30, 17), color=(10, 20, 30, 0)),
    Source("magenta.png", 90, 150, frame=(4, 3, 50, 0), color=(255, 0, 255)),
]


# MARK: - Options

PLACES = ["ce", "no", "so", "ea", "we", "noea", "nowe", "soea", "sowe"]


@dataclass
class Gravity:
    place: str = "ce"
    x: float = 0
    y: float = 0

    @property
    def text(self):
        return f"{self.place}:{self.x:g}:{self.y:g}" if self.x or self.y or self.place == "fp" else self.place

    def origin(self, part, whole, ratio=1.0, overflows=False):
        """The place of a part of an image, or of an image on a canvas."""
        return [self.along(axis, part[axis], whole[axis], ratio, overflows) for axis in (0, 1)]

    def along(self, axis, part, whole, ratio, overflows):
        offset, names = ((self.x, ("we", "ea")), (self.y, ("no", "so")))[axis]
        if self.place == "fp":
            start = even(whole * offset) - part // 2
        else:
            distance = even(offset * ratio) if abs(offset) >= 1 else even(whole * offset)
            name = self.place[:2] if axis else self.place[-2:]
            if name == names[0]:
                start = distance
            elif name == names[1]:
                start = whole - part - distance
            else:
                start = even((whole - part + 1) / 2) + distance
        return max(1 - part, min(start, whole - 1)) if overflows else max(0, min(start, whole - part))


@dataclass
class Watermark:
    gravity: Gravity
    scale: float = 0


@dataclass
class Options:
    kind: str = "fit"
    width: int = 0
    height: int = 0
    least_width: int = 0
    least_height: int = 0
    zoom: tuple = (1, 1)
    ratio: float = 1
    enlarges: bool = False
    gravity: Gravity = field(default_factory=Gravity)
    extend: Gravity = None
    shape: Gravity = None
    crop: tuple = None
    crop_gravity: Gravity = None
    padding: list = None
    angle: int = 0
    is_upright: bool = True
    flip: tuple = (False, False)
    trim: tuple = None
    watermark: Watermark = None
    limit: int = 0

    def texts(self, numbers):
        """The options as a URL has them, some in their longer forms, in any order."""
        texts = []

        def add(text, is_unusual=True):
            if is_unusual:
                texts.append(text)

        form = numbers.choice(["resize", "size", "single"])
        flags = [str(int(self.enlarges))] + (["1"] + self.extend.text.split(":") if self.extend else [])
        if form == "resize":
            add(":".join([numbers.choice(["rs", "resize"]), self.kind, str(self.width), str(self.height), *flags]))
        elif form == "size":
            add(":".join([numbers.choice(["s", "size"]), str(self.width), str(self.height), *flags]))
            add(f"resizing_type:{self.kind}", self.kind != "fit")
        else:
            add(f"rt:{self.kind}", self.kind != "fit")
            add(f"w:{self.width}", self.width)
            add(f"height:{self.height}", self.height)
            add("el:1", self.enlarges)
            add(f"ex:1:{self.extend.text}" if self.extend else "", self.extend)
        add(f"mw:{self.least_width}", self.least_width)
        add(f"min-height:{self.least_height}", self.least_height)
        zoom = self.zoom if self.zoom[0] != self.zoom[1] else self.zoom[:1]
        add("z:" + ":".join(f"{factor:g}" for factor in zoom), self.zoom != (1, 1))
        add(f"dpr:{self.ratio:g}", self.ratio != 1)
        add(f"g:{self.gravity.text}", self.gravity != Gravity())
        if self.shape:
            add(f"exar:1:{self.shape.text}")
        if self.crop:
            gravity = f":{self.crop_gravity.text}" if self.crop_gravity else ""
            add(f"c:{self.crop[0]:g}:{self.crop[1]:g}{gravity}")
        if self.padding:
            add("pd:" + ":".join(map(str, self.padding)))
        add(f"rot:{self.angle}", self.angle)
        add("ar:0", not self.is_upright)
        add(f"fl:{int(self.flip[0])}:{int(self.flip[1])}", any(self.flip))
        if self.trim:
            threshold, color, *equal = self.trim
            add(f"t:{threshold}:{color}:{int(equal[0])}:{int(equal[1])}")
        if self.watermark:
            gravity = self.watermark.gravity
            add(f"wm:1:{gravity.place}:{gravity.x:g}:{gravity.y:g}:{self.watermark.scale:g}")
        add(f"mrd:{self.limit}", self.limit)
        numbers.shuffle(texts)
        return texts or ["w:0"]


# MARK: - The calculation

@dataclass
class Sizes:
    """The sizes that follow from the scales."""

    scaled: tuple
    target: tuple
    crop: tuple
    shape: tuple
    edges: list


class Plan:
    """The scales, and the ratio of device pixels that the image has pixels for."""

    def __init__(self, options, width, height):
        self.options, self.source = options, (width, height)
        # True if a side of the box or of the crop is less than half a pixel: nobody says what that is.
        self.is_open = False
        self.find_scales()
        self.find_sizes()
        self.keep_limit()

    def find_scales(self):
        options, (width, height) = self.options, self.source
        wanted = (options.width or width, options.height or height)
        x, y = width / wanted[0], height / wanted[1]
        if (x, y) != (1, 1) and options.kind != "force":
            kind = options.kind
            if kind == "auto":
                kind = "fill" if (width >= height) == (wanted[0] >= wanted[1]) else "fit"
            if not options.width:
                x = y
            elif not options.height:
                y = x
            else:
                x = y = max(x, y) if kind == "fit" else min(x, y)
        x, y = x / options.zoom[0], y / options.zoom[1]
        self.ratio = options.ratio
        if not options.enlarges:
            least = min(x, y)
            if least < 1:
                x, y = x / least, y / least
                # The picture is as far from its box as it is, so a ratio below 1 need not take it further.
                self.ratio = self.ratio if options.extend else self.ratio / least
            self.ratio = min(self.ratio, x, y)
        if options.least_width and width / options.least_width < x:
            x, y = width / options.least_width, y * width / options.least_width / x
        if options.least_height and height / options.least_height < y:
            x, y = x * height / options.least_height / y, height / options.least_height
        self.scales = [1 / min(x / self.ratio, width), 1 / min(y / self.ratio, height)]

    def find_sizes(self):
        options, (width, height) = self.options, self.source
        scaled = (rounded(width * self.scales[0]), rounded(height * self.scales[1]))
        target = (rounded(options.width * (self.ratio * options.zoom[0])), rounded(options.height * (self.ratio * options.zoom[1])))
        crop = target
        if options.kind == "fill-down" and not options.enlarges:
            x, y = target[0] / scaled[0], target[1] / scaled[1]
            if x > y and x > 1:
                crop = (scaled[0], rounded(scaled[0] * target[1] / target[0]))
            elif y > x and y > 1:
                crop = (rounded(scaled[1] * target[0] / target[1]), scaled[1])
        self.is_open |= any(part == 0 < side for part, side in zip(crop, (options.width, options.height)))
        kept = [min(side, part) if part else side for side, part in zip(scaled, crop)]
        shape = (0, 0)
        if options.shape and all(target):
            x, y = target[0] / kept[0], target[1] / kept[1]
            if y > x:
                shape = (kept[0], rounded(kept[0] * target[1] / target[0]))
            elif x > y:
                shape = (rounded(kept[1] * target[0] / target[1]), kept[1])
        edges = [even(edge * self.ratio) for edge in css(options.padding)]
        self.kept, self.sizes = kept, Sizes(scaled, target, crop, shape, edges)

    def keep_limit(self):
        """Shrinks the result, with its canvas and its padding, so that no side is longer than the limit."""
        limit = self.options.limit
        # Sides are rounded, so a second turn may be needed.
        for _ in range(3 if limit else 0):
            width, height = self.kept
            canvas = self.sizes.target if self.options.extend else self.sizes.shape
            top, right, bottom, left = self.sizes.edges
            longest = max(max(width, canvas[0]) + left + right, max(height, canvas[1]) + top + bottom)
            if longest <= limit:
                return
            factor = limit / longest
            self.scales = [max(scale * factor, 1 / side) for scale, side in zip(self.scales, self.source)]
            self.ratio *= factor
            self.find_sizes()


def css(padding):
    """Top, right, bottom and left, of which all but the first may be missing."""
    if not padding:
        return [0, 0, 0, 0]
    top = padding[0]
    right = padding[1] if len(padding) > 1 else top
    return [top, right, padding[2] if len(padding) > 2 else top, padding[3] if len(padding) > 3 else right]


def part(wanted, side):
    """The length of a part: a fraction below 1, and all of the side if it is 0."""
    return side if wanted == 0 else min(side, int(wanted) if wanted >= 1 else max(1, rounded(wanted * side)))


def result(source, options):
    """Returns the picture that is to come, and the place of the watermark on it; None if the documentation leaves it open."""
    picture = Picture(source.width, source.height)
    if options.trim:
        left, top, right, bottom = source.frame
        if options.trim[2]:
            left = right = min(left, right)
        if options.trim[3]:
            top = bottom = min(top, bottom)
        picture = picture.cropped(left, top, source.width - left - right, source.height - top - bottom)
    if options.is_upright:
        picture = source.upright(picture)
    picture = picture.turned(options.angle).mirrored(*options.flip)
    if options.crop:
        whole = (picture.width, picture.height)
        sides = [part(wanted, side) for wanted, side in zip(options.crop, whole)]
        gravity = options.crop_gravity or options.gravity
        picture = picture.cropped(*gravity.origin(sides, whole), *sides)
    plan = Plan(options, picture.width, picture.height)
    sizes = plan.sizes
    if plan.is_open:
        return None
    picture = picture.resized(*sizes.scaled)
    picture = picture.cropped(*options.gravity.origin(plan.kept, sizes.scaled, plan.ratio), *plan.kept)
    for gravity, canvas in ((options.extend, sizes.target), (options.shape, sizes.shape)):
        own = (picture.width, picture.height)
        if gravity and any(side > length for side, length in zip(canvas, own)):
            canvas = [side or length for side, length in zip(canvas, own)]
            picture = picture.placed(*gravity.origin(own, canvas, plan.ratio), *canvas)
    top, right, bottom, left = sizes.edges
    picture = picture.placed(left, top, picture.width + left + right, picture.height + top + bottom)
    return picture, options.watermark and mark_on(picture, options.watermark, plan.ratio)


def mark_on(picture, watermark, ratio):
    """Returns the visible part of the watermark as left, top, right and bottom."""
    whole, mark = (picture.width, picture.height), MARK
    if watermark.scale:
        box = [max(even(side * watermark.scale), 1) for side in whole]
        factor = min(box[0] / mark[0], box[1] / mark[1])
        mark = [max(1, rounded(side * factor)) for side in mark]
    left, top = watermark.gravity.origin(mark, whole, ratio, overflows=True)
    return max(left, 0), max(top, 0), min(left + mark[0], whole[0]), min(top + mark[1], whole[1])


# MARK: - Random combinations

def combination(numbers):
    """Returns a source and options."""
    def chance(share):
        return numbers.random() < share

    def side():
        return 0 if chance(0.25) else numbers.randint(1, 300)

    def gravity(is_named=False):
        if not is_named and chance(0.2):
            return Gravity("fp", numbers.randint(0, 20) / 20, numbers.randint(0, 20) / 20)
        made = Gravity(numbers.choice(PLACES))
        if chance(0.4):
            made.x, made.y = (numbers.choice([0, numbers.randint(-40, 40), numbers.randint(-19, 19) / 20]) for _ in "xy")
        return made

    options = Options(kind=numbers.choice(["fit", "fill", "fill-down", "force", "auto"]), width=side(), height=side())
    options.enlarges = chance(0.3)
    if chance(0.15):
        options.least_width = side()
    if chance(0.15):
        options.least_height = side()
    if chance(0.25):
        x = numbers.randint(4, 40) / 20
        options.zoom = (x, x if chance(0.5) else numbers.randint(4, 40) / 20)
    if chance(0.5):
        options.ratio = numbers.choice([0.5, 0.75, 1.5, 2, 3, numbers.randint(2, 80) / 20])
    if chance(0.5):
        options.gravity = gravity()
    if chance(0.25):
        options.extend = gravity()
    if chance(0.2):
        options.shape = gravity()
    if chance(0.3):
        options.crop = tuple(numbers.choice([0, numbers.randint(1, 19) / 20, numbers.randint(1, 200)]) for _ in "xy")
        options.crop_gravity = gravity() if chance(0.5) else None
    if chance(0.3):
        options.padding = [numbers.randint(0, 30) for _ in range(numbers.randint(1, 4))]
    options.angle = numbers.choice([0, 0, 0, 0, 90, 180, 270, -90])
    options.is_upright = not chance(0.1)
    options.flip = (chance(0.1), chance(0.1))
    if chance(0.15):
        options.limit = numbers.randint(10, 400)
    if chance(0.25):
        options.watermark = Watermark(gravity(is_named=True), numbers.choice([0, 0, numbers.randint(1, 20) / 20]))
    source = numbers.choice(SOURCES)
    if chance(0.12):
        source = numbers.choice(FRAMED)
        color = {"yellow.png": "ffff00", "clear.png": "FF00FF", "magenta.png": "ff00ff"}[source.name]
        options.trim = (numbers.randint(1, 60), numbers.choice(["", color]), chance(0.3), chance(0.3))
    return source, options


# MARK: - Answers

connections = thread_local()


def ask(port, target):
    """Returns the status and the body of an answer, on a connection that is kept."""
    connection = getattr(connections, "open", None)
    if connection is None:
        connection = connections.open = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", target)
    answer = connection.getresponse()
    return answer.status, answer.read()


def fault(body, source, expected, mark):
    """Returns what is wrong about an answer; none if all is right."""
    image = Image.open(io.BytesIO(body))
    if abs(image.width - expected.width) > 1 or abs(image.height - expected.height) > 1:
        return f"{image.width}x{image.height}, not {expected.width}x{expected.height}"
    image = image.convert("RGBA")
    return place_fault(image, source, expected, mark) or (mark and mark_fault(image, mark)) or None


def place_fault(image, source, expected, mark):
    left, top, width, height = expected.shown
    covered = mark or (0, 0, 0, 0)
    for share_x, share_y in itertools.product((0.12, 0.5, 0.88), repeat=2):
        x, y = int(left + width * share_x), int(top + height * share_y)
        if covered[0] - 2 <= x < covered[2] + 2 and covered[1] - 2 <= y < covered[3] + 2:
            continue
        if not (x < image.width and y < image.height):
            continue
        red, green, _, alpha = image.getpixel((x, y))
        point, next_point = expected.back(x + 0.5, y + 0.5), expected.back(x + 1.5, y + 1.5)
        step = [abs(after - before) for before, after in zip(point, next_point)]
        if not source.shows(point, step):
            continue
        off = [abs(level + 0.5 - place) for level, place in zip((red, green), point)]
        # At the edges of a picture that is made much smaller or larger, levels are those of the edge's surroundings.
        if alpha < 255 or any(distance > 1.5 + pixel for distance, pixel in zip(off, step)):
            return f"at {x},{y} it shows {red},{green},{alpha}, not {point[0]:.1f},{point[1]:.1f}"
    # The canvas around the picture is transparent.
    right, bottom = left + width, top + height
    outside = [(left - 2, top + height // 2), (right + 1, top + height // 2), (left + width // 2, top - 2), (left + width // 2, bottom + 1)]
    for x, y in outside:
        inside_image = 0 <= x < min(image.width, expected.width) and 0 <= y < min(image.height, expected.height)
        if inside_image and not (covered[0] - 2 <= x < covered[2] + 2 and covered[1] - 2 <= y < covered[3] + 2):
            if image.getpixel((x, y))[3] > 0:
                return f"at {x},{y} it is not the canvas"
    return None


def mark_fault(image, mark):
    red, _, blue, _ = image.split()
    # Frames have as much red.
    found = ImageChops.subtract(blue, red).point(lambda level: 255 if level > 190 else 0).getbbox()
    if found is None or any(abs(side - edge) > 1 for side, edge in zip(found, mark)):
        return f"the watermark is at {found}, not {mark}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=4)
    arguments = parser.parse_args()
    fleet = Fleet()
    folder = fleet.folder("pictures")
    for source in SOURCES + FRAMED:
        source.write(folder)
    Image.new("RGB", MARK, (0, 0, 255)).save(f"{folder}/mark.png")
    server = fleet.server(arguments.server, "server", local_root=folder, watermark=f"{folder}/mark.png").start()
    numbers = random.Random(arguments.seed)
    cases = []
    while len(cases) < arguments.count:
        source, options = combination(numbers)
        found = result(source, options)
        # A picture that is scaled out of all proportion shows too little of where it was.
        if found and max(found[0].width, found[0].height) <= LARGEST:
            expected, mark = found
            cases.append((source, "/".join(options.texts(numbers)), expected, mark))

    def play(case):
        source, text, expected, mark = case
        target = f"/_/{text}/plain/local:///{source.name}@png"
        status, body = ask(server.port, target)
        wrong = fault(body, source, expected, mark) if status == 200 else f"status {status}: {body[:200].decode()}"
        return wrong and f"  WRONG: {target}: {wrong}"

    with ThreadPoolExecutor(arguments.threads) as pool:
        faults = [wrong for wrong in pool.map(play, cases) if wrong]
    for wrong in faults[:40]:
        print(wrong)
    print(f"{len(cases)} combinations, seed {arguments.seed}: {len(faults)} are not what imgproxy documents")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
