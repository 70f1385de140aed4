#!/usr/bin/env bash
# A format and an operation that are added in a copy of the project, which then reads and does them.
# The made-up format PLATE is a row of the table and a file of its own; the made-up operation `negative` is a row, its place
# among the steps, and a line of the documentation. Shows what the copy changes, and fails if that is more files than
# two and three, or if the tool of the copy does not know both. TESTS=1 runs the tests of tables, tool and URLs there, too.
source "$(dirname "$0")/../lib/common.sh"
setup
copy=$PWD/.build/new-rows/copy
mkdir -p "$copy"
find "$copy" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$copy"
cd "$copy"
git init -q
git add -A
git -c user.name=check -c user.email=check@localhost commit -qm "before"

# changed LIMIT: shows what has changed since the last commit, and commits it.
changed() {
  git add -A
  git diff --cached --stat
  [ "$(git diff --cached --name-only | wc -l)" -le "$1" ] || { echo "new-rows: more than $1 files have changed" >&2; exit 1; }
  git -c user.name=check -c user.email=check@localhost commit -qm "more"
}

formats=Sources/Imaging/Codecs/ImageFormat+Table.swift
mkdir -p Sources/Imaging/Codecs/Plate
cat >Sources/Imaging/Codecs/Plate/PlateDecoder.swift <<'SWIFT'
import VitrineRuntime

/// Decodes PLATE: the name, a side and a grey, each a byte.
struct PlateDecoder: ImageDecoder, VitrineDecoder {
  let formats: [ImageFormat] = [.plate]

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    guard let side = unsafe ByteReader(bytes).byte(at: 5) else {
      throw ImageError(.truncated, format: .plate, "truncated: the file ends inside its header")
    }
    var info = ImageInfo(format: .plate, storedWidth: Int(side), storedHeight: Int(side))
    info.streamsRows = true
    return info
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let grey = unsafe ByteReader(bytes).byte(at: 6) ?? 0
    let info = request.info
    return LineRows(width: info.storedWidth, height: info.storedHeight, hasAlpha: false) {
      (_, line) throws(ImageError) in
      for x in line.indices { line[x] = Pixel.rgba(grey, grey, grey) }
    }
  }
}
SWIFT
python - "$formats" <<'PYTHON'
import sys
path = sys.argv[1]
text = open(path).read()
for old, new in (
    (".qoi, .avif", ".qoi, .plate, .avif"),
    ("  /// AVIF: AV1 in HEIF.\n", """  /// PLATE.
  public static let plate = Self(
    Row(
      name: "plate",
      title: "PLATE",
      extensions: ["plate"],
      types: ["image/x-plate"],
      signature: { $0.starts(with: "PLATE") },
      hasAlpha: false,
      reader: .builtIn,
    )
  )

  /// AVIF: AV1 in HEIF.
"""),
    ("(QOIDecoder(), QOIEncoder(), nil),", "(QOIDecoder(), QOIEncoder(), nil),\n    (PlateDecoder(), nil, nil),"),
):
    assert text.count(old) == 1, old
    text = text.replace(old, new)
open(path, "w").write(text)
PYTHON
changed 2

documents=Sources/Server/Requests/VitrineServingRequests.docc/OptionsOfURLs.md
python - "$(git ls-files '*/ImageOperation+Table.swift')" $documents <<'PYTHON'
import sys
for path, changes in (
    (sys.argv[1], (
        ("saturation, adjust, sepia,", "saturation, adjust, monochrome, sepia,"),
        ("contrast, saturation, sepia,", "contrast, saturation, monochrome, sepia,"),
        ("  package static let sharpen = ", """  package static let monochrome = ImageOperation(
    "monochrome mc",
    [.init("on", .flag, initially: .flag(false))],
    "mc:1",
    "Takes the colors away.",
  ) { _, _ in [.grayscale()] }

  package static let sharpen = """),
    )),
    (sys.argv[2], (
        ("`saturation`, `sepia`", "`saturation`, `monochrome`, `sepia`"),
        ("| `sharpen`", "| `monochrome` `mc` | on: 1 or 0 | Takes the colors away. | `mc:1` |\n| `sharpen`"),
    )),
):
    text = open(path).read()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    open(path, "w").write(text)
PYTHON
changed 3

release vitrine
tool=.build/release/vitrine
printf 'PLATE\040\310' >.build/made.plate
$tool info --json .build/made.plate | tee .build/made.json
grep -q '"format": "plate"' .build/made.json
$tool thumbnail Examples/Photographs/autumn-avenue-nikon.jpg -o .build/made.png --size 64 --do monochrome:1
$tool thumbnail .build/made.plate -o .build/plate.png

[ "${TESTS:-0}" = 1 ] || exit 0
source Scripts/lib/tests.sh
build_tests
swift_tests --filter '^(ImagingTests|CommandLineTests|ServerRequestTests)\.'
