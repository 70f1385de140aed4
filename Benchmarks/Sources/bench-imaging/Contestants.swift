import Foundation

/// A program that makes thumbnails, and its usual command line.
struct Contestant: Sendable {
  let name: String
  /// The format that it writes when timed: JPEG if it can.
  var fileExtension = "jpg"
  /// The program and its arguments.
  let command: @Sendable (Job) -> [String]

  /// The path of its output.
  func target(_ fileExtension: String) -> String {
    scratch.appending(path: name.filter(\.isLetter) + "." + fileExtension).path
  }
}

struct Job {
  let input: Input
  let output: String
  let size: Int
}

private func vitrine(
  _ name: String,
  mode: String = "balanced",
  fileExtension: String = "jpg",
  program: String = vitrine,
) -> Contestant {
  Contestant(name: name, fileExtension: fileExtension) {
    [
      program, "thumbnail", $0.input.path, "-o", $0.output, "--size", "\($0.size)", "--quality-mode", mode, "--jobs",
      "1",
    ]
  }
}

let balanced = vitrine("vitrine")
let best = vitrine("vitrine, best", mode: "best")
/// Differs from balanced only for JPEG, and for HEIC, of which it takes the thumbnail.
let fast = vitrine("vitrine, fast", mode: "fast")
let png = vitrine("vitrine, to PNG", fileExtension: "png")
/// An older program, named by BEFORE, in the same run.
private let before = environment["BEFORE"].map {
  [vitrine("before", program: $0), vitrine("before, to PNG", fileExtension: "png", program: $0)]
}
let vips = Contestant(name: "vipsthumbnail", command: vipsthumbnail)
let vipsPNG = Contestant(name: "vipsthumbnail, to PNG", fileExtension: "png", command: vipsthumbnail)

func vipsthumbnail(_ job: Job) -> [String] {
  let target = job.output.hasSuffix("jpg") ? "\(job.output)[Q=85]" : job.output
  return ["vipsthumbnail", job.input.path, "--size", "\(job.size)x\(job.size)>", "-o", target]
}
/// Writes only PNG.
let pixbuf = Contestant(name: "gdk-pixbuf, to PNG", fileExtension: "png") {
  ["gdk-pixbuf-thumbnailer", "-s", "\($0.size)", $0.input.path, $0.output]
}
let pillow = Contestant(name: "Pillow") { ["python3", "-c", pillowScript, $0.input.path, $0.output, "\($0.size)"] }
/// OpenCV tells the size of an image only after decoding it, so its user is assumed to know it.
let openCV = Contestant(name: "OpenCV") { job in
  let reduction = [8, 4, 2].first { job.input.longerSide / $0 >= job.size } ?? 1
  let mode = job.input.kind.isJPEG && reduction > 1 ? "IMREAD_REDUCED_COLOR_\(reduction)" : "IMREAD_COLOR"
  return ["python3", "-c", openCVScript, job.input.path, job.output, "\(job.size)", mode]
}
/// The hint for JPEG is twice the size, as in ImageMagick's own guide.
let magick = Contestant(name: "ImageMagick") {
  let hint = "jpeg:size=\($0.size * 2)x\($0.size * 2)"
  let size = "\($0.size)x\($0.size)>"
  return ["convert", "-define", hint, $0.input.path, "-auto-orient", "-thumbnail", size, "-quality", "85", $0.output]
}

/// The Python with the newest libvips of PyPI, which `make bench NAME=imaging` installs where it can.
let newestPython = ".build/pyvips/bin/python"
let newestVips = Contestant(name: "libvips of PyPI") {
  [newestPython, "-c", pyvipsScript, $0.input.path, $0.output, "\($0.size)"]
}

let allContestants =
  [balanced, best, fast, png] + (before ?? []) + [vips, vipsPNG]
  + (FileManager.default.isExecutableFile(atPath: newestPython) ? [newestVips] : [])
  + [pixbuf, pillow, openCV, magick]

private let pyvipsScript = """
  import sys, pyvips
  size = int(sys.argv[3])
  image = pyvips.Image.thumbnail(sys.argv[1], size, height=size, size="down")
  image.write_to_file(sys.argv[2], **({"Q": 85} if sys.argv[2].endswith("jpg") else {}))
  """

private let pillowScript = """
  import sys
  from PIL import Image, ImageOps
  size = int(sys.argv[3])
  image = Image.open(sys.argv[1])
  image.draft("RGB", (size, size))
  image.thumbnail((size, size), Image.LANCZOS, reducing_gap=2.0)
  ImageOps.exif_transpose(image).save(sys.argv[2], quality=85)
  """

private let openCVScript = """
  import sys, cv2
  size = int(sys.argv[3])
  image = cv2.imread(sys.argv[1], getattr(cv2, sys.argv[4]))
  height, width = image.shape[:2]
  scale = min(1, size / max(width, height))
  shape = (max(1, round(width * scale)), max(1, round(height * scale)))
  cv2.imwrite(sys.argv[2], cv2.resize(image, shape, interpolation=cv2.INTER_AREA), [cv2.IMWRITE_JPEG_QUALITY, 85])
  """
