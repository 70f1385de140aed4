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

private func vitrine(_ name: String, mode: String = "balanced", fileExtension: String = "jpg") -> Contestant {
  Contestant(name: name, fileExtension: fileExtension) {
    [
      vitrine, "thumbnail", $0.input.path, "-o", $0.output, "--size", "\($0.size)", "--quality-mode", mode, "--jobs",
      "1",
    ]
  }
}

let balanced = vitrine("vitrine")
let best = vitrine("vitrine, best", mode: "best")
/// Differs from balanced only for JPEG, and for HEIC, of which it takes the thumbnail.
let fast = vitrine("vitrine, fast", mode: "fast")
let png = vitrine("vitrine, to PNG", fileExtension: "png")
let vips = Contestant(name: "vipsthumbnail") {
  let target = $0.output.hasSuffix("jpg") ? "\($0.output)[Q=85]" : $0.output
  return ["vipsthumbnail", $0.input.path, "--size", "\($0.size)x\($0.size)>", "-o", target]
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

let allContestants = [balanced, best, fast, png, vips, pixbuf, pillow, openCV, magick]

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
