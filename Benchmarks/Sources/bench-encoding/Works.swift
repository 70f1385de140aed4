import Foundation
import VitrineAVIF
import VitrineImaging
import VitrineJXL

/// A format with options that all contestants write alike.
struct Work: Sendable {
  let name: String
  let title: String
  let encoding: ImageEncoding
  /// Options of libvips, as its functions take them; `nil` where Debian's writes no such file.
  var vips: String?
  /// Arguments of Pillow's `save`; `nil` where it writes no such file.
  var pillow: String?
  /// The command line of the format's own tool, for an input and an output; the input's extension is that which it
  /// reads.
  var program: (@Sendable (_ input: String, _ output: String) -> [String])?
  var inputExtension = "ppm"
  /// True if every pixel comes back.
  var isLossless = false

  static let all = [
    Work(
      name: "jpeg",
      title: "JPEG, quality 85, 4:2:0, optimised",
      encoding: .jpeg(),
      vips: ".jpg[Q=85,optimize-coding,subsample-mode=on]",
      pillow: "'JPEG', quality=85, optimize=True, subsampling=2",
      program: { ["cjpeg", "-quality", "85", "-optimize", "-outfile", $1, $0] },
    ),
    Work(
      name: "jpeg-progressive",
      title: "JPEG, quality 85, progressive",
      encoding: .jpeg(isProgressive: true),
      vips: ".jpg[Q=85,interlace,subsample-mode=on]",
      pillow: "'JPEG', quality=85, progressive=True, subsampling=2",
      program: { ["cjpeg", "-quality", "85", "-progressive", "-outfile", $1, $0] },
    ),
    Work(name: "png", title: "PNG", encoding: .png(), vips: ".png[filter=all]", pillow: "'PNG'", isLossless: true),
    Work(
      name: "png-fastest",
      title: "PNG, the fastest levels of the others",
      encoding: .png(),
      vips: ".png[compression=1,filter=all]",
      pillow: "'PNG', compress_level=1",
      isLossless: true,
    ),
    Work(
      name: "png-smallest",
      title: "PNG, smallest",
      encoding: .png(.smallest),
      vips: ".png[compression=9,filter=all]",
      pillow: "'PNG', optimize=True",
      isLossless: true,
    ),
    Work(
      name: "webp",
      title: "WebP, quality 85",
      encoding: .webp(),
      vips: ".webp[Q=85,effort=4]",
      pillow: "'WEBP', quality=85, method=4",
      program: { ["cwebp", "-quiet", "-q", "85", "-m", "4", $0, "-o", $1] },
    ),
    Work(
      name: "webp-lossless",
      title: "WebP, lossless",
      encoding: .webp(isLossless: true),
      vips: ".webp[lossless,Q=70,effort=4]",
      pillow: "'WEBP', lossless=True, quality=70, method=4",
      program: { ["cwebp", "-quiet", "-lossless", "-q", "70", "-m", "4", $0, "-o", $1] },
      isLossless: true,
    ),
    Work(
      name: "gif",
      title: "GIF, 256 colours, dithered",
      encoding: .gif(),
      vips: ".gif[dither=1,effort=7]",
      pillow: "'GIF'",
    ),
    Work(
      name: "avif",
      title: "AVIF, quality \(avifQuality), speed \(avifSpeed)",
      encoding: .avif(),
      vips: ".avif[Q=\(avifQuality),effort=\(9 - avifSpeed),subsample-mode=on]",
      program: { input, output in
        // As avifenc 1.0 turns a quality into a quantiser.
        let quantizer = "\(((100 - avifQuality) * 63 + 50) / 100)"
        return [
          "avifenc", "-j", "1", "-s", "\(avifSpeed)", "--min", quantizer, "--max", quantizer, "-y", "420", input,
          output,
        ]
      },
      inputExtension: "png",
    ),
    Work(
      name: "jxl",
      title: "JPEG XL, quality \(jxlQuality), effort \(jxlEffort)",
      encoding: .jxl(),
      vips: ".jxl[Q=\(jxlQuality),effort=\(jxlEffort)]",
      program: { ["cjxl", "--quiet", "--num_threads=0", "-q", "\(jxlQuality)", "-e", "\(jxlEffort)", $0, $1] },
    ),
    Work(name: "qoi", title: "QOI", encoding: .qoi(), isLossless: true),
  ]
}

private let avifQuality = AVIFOptions().quality
private let avifSpeed = AVIFOptions().speed
private let jxlQuality = JXLOptions().quality
private let jxlEffort = JXLOptions().effort

let pillowScript = """
  import sys, time, io
  from PIL import Image
  options, source, width, height, target, rounds = sys.argv[1:]
  image = Image.frombytes("RGB", (int(width), int(height)), open(source, "rb").read())
  times = []
  for _ in range(int(rounds)):
      start = time.process_time()
      file = io.BytesIO()
      given = image.quantize(256, method=Image.Quantize.MEDIANCUT) if options.startswith("'GIF'") else image
      eval("given.save(file, " + options + ")")
      times.append((time.process_time() - start) * 1000)
  open(target, "wb").write(file.getvalue())
  print(sorted(times)[len(times) // 2])
  """
