// make bench NAME=imaging: thumbnails of photographs, compared with the usual programs on Linux.
//
// Every program makes an image whose longer side has the given pixels. The output is JPEG, as usual for photographs.
// The program that writes only PNG is compared with a PNG of ours. A second PNG of each program, which is not timed,
// shows its quality: the signal-to-noise ratio against the whole image, decoded by the format's own decoder and shrunk
// with Lanczos3 (Measuring.swift). KINDS selects from baseline, large, progressive, png, webP, avif, heic, tiff,
// pyramid, batch, light and clock. ROUNDS sets the number of timed rounds. PICTURES names a folder in which to keep the
// thumbnails. BEFORE names an older vitrine, which is measured in the same run.

import Foundation

try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: scratch) }

print(
  """
  Thumbnails of photographs: whole processes, the least of \(rounds) rounds.

  CPU is user and system time with all threads and with processes that a program starts, wall is what a clock shows
  (noise where others use the machine), peak is the resident memory of all of them. All include start-up, Python's too:
  the table of one-pixel pictures says how much that is. "Above" is what lies above it, of CPU in the mean, and of the
  peak, less the file, for the file where that is most. PSNR is that of a PNG that the program made, against a whole
  decode shrunk with Lanczos3.
  \(versions())
  """
)
let start = StartUp()
start.report()
reportSizes()

let wanted = environment["KINDS"].map { $0.split(separator: ",").map(String.init) }
let taken = photographs()
var comparisons: [Comparison] = []
for kind in Kind.compared where wanted?.contains("\(kind)") ?? true {
  var sizes = [Comparison(kind, 300), Comparison(kind, 900)]
  print("")
  for input in inputs(kind, taken) {
    guard var reference = Reference(input) else {
      print("\(input.name): skipped, \(kind.decode("it", to: "")[0]) cannot decode it")
      continue
    }
    for index in sizes.indices { sizes[index].add(input, &reference, start) }
    // A run takes minutes, so show the progress.
    fflush(nil)
  }
  for comparison in sizes { comparison.report() }
  comparisons += sizes
}
if wanted?.contains("batch") ?? true { reportBatch(taken) }
if wanted?.contains("light") ?? true { reportLight(taken) }
Goals(comparisons: comparisons).report()
if wanted?.contains("clock") ?? true { reportByTheClock(taken) }

/// The versions of the compared programs.
func versions() -> String {
  let python = "import PIL, cv2; print('Pillow', PIL.__version__ + ', OpenCV', cv2.__version__)"
  let newest = "import pyvips; print('libvips of PyPI', '.'.join(str(pyvips.version(part)) for part in range(3)))"
  let commands = [
    ["vips", "--version"], [newestPython, "-c", newest], ["python3", "-c", python], ["convert", "-version"],
  ]
  let texts = commands.map { output($0).text.split(separator: "\n").first.map(String.init) ?? "\($0[0]) is missing" }
  return texts.map { $0.replacing("Version: ", with: "").prefix(40).trimmingCharacters(in: .whitespaces) }.joined(
    separator: ", "
  )
}
