"""thumbnailer.py VITRINE: compares `vitrine thumbnailer` with gdk-pixbuf-thumbnailer, in one run.

CPU time is that of the whole process, start included, and of the processes that it starts; the least of ROUNDS, in which
the two programs take turns. Files are those of VITRINE_CORPUS and the shipped photographs.
"""

import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SIZES = (128, 256, 512)
tool = os.path.abspath(sys.argv[1])
corpus = os.environ.get("VITRINE_CORPUS")
scratch = tempfile.mkdtemp()


def jpeg_kind(path):
    """Returns the kind of a JPEG, with its size in two classes; None if it is no JPEG."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] != b"\xff\xd8":
        return None
    offset = 2
    while offset + 4 <= len(data) and data[offset] == 0xFF:
        marker, length = data[offset + 1], struct.unpack(">H", data[offset + 2:offset + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[offset + 5:offset + 9])
            kind = "progressive" if marker == 0xC2 else "baseline"
            return f"{kind} JPEG, {'4+' if width * height >= 4_000_000 else 'under 4'} MP"
        offset += 2 + length
    return None


def photographs():
    """Returns (path, kind), each photograph of at least 100 KB, and each JPEG as the other kind too."""
    found = []
    for folder in filter(None, [corpus, "Examples/Photographs"]):
        for parent, folders, names in os.walk(folder):
            folders.sort()
            found += [os.path.join(parent, name) for name in sorted(names)]
    for path in found:
        end = path.rsplit(".", 1)[-1].lower()
        if os.path.getsize(path) < 100_000:
            continue
        if end in ("jpg", "jpeg") and jpeg_kind(path):
            kind = jpeg_kind(path)
            yield path, kind
            was, other = ("progressive", "baseline") if kind.startswith("progressive") else ("baseline", "progressive")
            name = os.path.join(scratch, "other.jpg")
            wanted = ["-progressive"] if other == "progressive" else []
            made = subprocess.run(["jpegtran", "-copy", "all", *wanted, "-outfile", name, path], capture_output=True)
            if made.returncode == 0:
                yield name, kind.replace(was, other)
        elif end in ("png", "webp", "avif", "heic", "heif", "jxl", "tif", "tiff"):
            yield path, {"tif": "TIFF", "tiff": "TIFF", "webp": "WebP", "heif": "HEIC"}.get(end, end.upper())


def measure(command):
    """Returns milliseconds of CPU time, or None if it failed."""
    result = subprocess.run([measurer, *command], capture_output=True, text=True)
    cpu, _, peak, status = map(int, result.stdout.split())
    return (cpu / 1000, peak / 1024) if status == 0 else None


measurer = os.path.join(scratch, "measure")
subprocess.run(["clang", "-O1", "-o", measurer, "Benchmarks/Sources/measure/main.c"], check=True)
output = os.path.join(scratch, "out.png")
results = {}
try:
    for path, kind in photographs():
        for size in SIZES:
            commands = ([tool, "thumbnailer", "--size", str(size), "--", path, output],
                        ["gdk-pixbuf-thumbnailer", "-s", str(size), path, output])
            rounds = []
            for _ in range(ROUNDS):
                one = []
                for command in commands:
                    if os.path.exists(output):
                        os.remove(output)
                    one.append(measure(command))
                rounds.append(one)
                if None in one:
                    break
            best = [min((r[index] for r in rounds if r[index]), default=None) for index in (0, 1)]
            results.setdefault((kind, size), []).append((os.path.basename(path), best))
finally:
    shutil.rmtree(scratch)

print("Thumbnails for a desktop: CPU time of whole processes with their children, start included, in ms;")
print(f"the least of {ROUNDS} rounds in which the programs take turns. Files of at least 100 KB.\n")
print(f"{'kind':28}{'size':>5}{'files':>7}{'vitrine':>9}{'gdk-pixbuf':>12}{'times':>8}{'median':>8}{'least':>7}   peak MB   "
      "only vitrine / only gdk-pixbuf / none")
for (kind, size), files in sorted(results.items()):
    both = [best for _, best in files if None not in best]
    only = [sum(1 for _, best in files if pattern(best)) for pattern in (
        lambda b: b[0] and not b[1], lambda b: b[1] and not b[0], lambda b: not b[0] and not b[1])]
    line = f"{kind:28}{size:5}{len(files):7}"
    if both:
        mean = [statistics.mean(best[index][0] for best in both) for index in (0, 1)]
        ratios = [best[1][0] / best[0][0] for best in both]
        peaks = [max(best[index][1] for best in both) for index in (0, 1)]
        line += f"{mean[0]:9.1f}{mean[1]:12.1f}{mean[1] / mean[0]:8.1f}{statistics.median(ratios):8.1f}{min(ratios):7.1f}"
        line += f"{peaks[0]:6.0f}/{peaks[1]:.0f}"
    else:
        ours = [best[0][0] for _, best in files if best[0]]
        line += f"{statistics.mean(ours):9.1f}{'-':>12}{'':33}" if ours else f"{'-':>9}{'-':>12}{'':33}"
    print(line + f"   {only[0]} / {only[1]} / {only[2]}")
failed = sorted({(kind, name) for (kind, _), files in results.items() for name, best in files if not best[0]})
if failed:
    print("\nWithout a thumbnail by vitrine: " + ", ".join(name for _, name in failed))
