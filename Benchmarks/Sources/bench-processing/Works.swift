import Foundation
import VitrineImaging

/// A step that all contestants carry out on the same pixels.
struct Work: Sendable {
  let name: String
  let title: String
  /// True for the picture of 12 megapixels, false for the one of 1,500 pixels.
  let isLarge: Bool
  let processor: ImageProcessor
  /// True if libvips does the same work at the same quality.
  var isJudged: Bool { !["blur-1.5", "blur-4", "sharpen-1.5", "rotate-7"].contains(name) }

  /// Returns the work of a name; blurs may have any standard deviation.
  static func named(_ name: String) -> Work? {
    if let work = all.first(where: { $0.name == name }) { return work }
    guard name.hasPrefix("blur-"), let sigma = Double(name.dropFirst(5)) else { return nil }
    return Work(name: name, title: name, isLarge: true, processor: .blur(radius: .pixels(sigma)))
  }

  static let all = [
    Work(name: "resize-300", title: "12 MP to 300 pixels", isLarge: true, processor: .resize(width: 300)),
    Work(name: "resize-600", title: "1,500 pixels to 600", isLarge: false, processor: .resize(width: 600)),
    Work(name: "blur-1.5", title: "blur with sigma 1.5, 12 MP", isLarge: true, processor: .blur(radius: 1.5)),
    Work(name: "blur-4", title: "blur with sigma 4, 12 MP", isLarge: true, processor: .blur(radius: 4)),
    Work(name: "blur-8", title: "blur with sigma 8, 12 MP", isLarge: true, processor: .blur(radius: 8)),
    Work(name: "blur-40", title: "blur with sigma 40, 12 MP", isLarge: true, processor: .blur(radius: 40)),
    Work(
      name: "sharpen-1.5",
      title: "unsharp mask of 150 % with sigma 1.5, 12 MP",
      isLarge: true,
      processor: .sharpen(amount: 1.5, radius: 1.5),
    ),
    Work(name: "rotate-7", title: "turned by 7 degrees, 12 MP", isLarge: true, processor: .rotate(degrees: 7)),
    Work(
      name: "corners",
      title: "corners with radius 100, 12 MP",
      isLarge: true,
      processor: .roundedCorners(radius: 100),
    ),
  ]
}

/// A program, and how it is called for a work: with the work's name, input, width, height, output and rounds.
struct Peer: Sendable {
  let name: String
  let works: Set<String>
  let command: @Sendable (_ work: String) -> [String]
  /// The end of the works' names for this program.
  var suffix = ""
}

let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
/// The number of times that a process does a work.
let rounds = 3

let everyWork = Set(Work.all.map(\.name))

let peers = [
  Peer(name: "Vitrine", works: everyWork) { ["\(folder)/bench-processing", $0] },
  Peer(name: "libvips", works: everyWork.subtracting(["sharpen-1.5"])) { ["\(folder)/vips-processing", $0] },
  Peer(
    name: "libvips, float",
    works: ["blur-8"],
    command: { ["\(folder)/vips-processing", $0] },
    suffix: "-float",
  ),
  Peer(name: "Pillow", works: everyWork) { ["/usr/bin/python3", "-c", pillow, $0] },
  Peer(
    name: "libvips of PyPI",
    works: FileManager.default.isExecutableFile(atPath: newest) ? everyWork.subtracting(["sharpen-1.5"]) : [],
  ) { [newest, "-c", pyvips, $0] },
  Peer(name: "OpenCV", works: everyWork.subtracting(["corners", "sharpen-1.5", "rotate-7"])) {
    ["/usr/bin/python3", "-c", openCV, $0]
  },
]

/// The Python with the newest libvips of PyPI, which `make bench NAME=processing` installs where it can.
private let newest = ".build/pyvips/bin/python"

private let pyvips = """
  import sys, time, os
  os.environ["VIPS_CONCURRENCY"] = "1"
  import pyvips
  pyvips.cache_set_max(0)
  work, source, width, height, target, rounds = sys.argv[1:]
  width, height = int(width), int(height)
  pixels = open(source, "rb").read()
  def run(image):
      if work == "corners":
          shape = "<svg width='%d' height='%d'><rect width='%d' height='%d' rx='100' ry='100' fill='#fff'/></svg>"
          mask = pyvips.Image.svgload_buffer((shape % (width, height, width, height)).encode())[3]
          return image.bandjoin(mask)
      kind, amount = work.split("-")
      if kind == "blur": return image.gaussblur(float(amount))
      if kind == "rotate": return image.addalpha().rotate(7, interpolate=pyvips.Interpolate.new("bicubic"))
      return image.resize(float(amount) / width)
  times = []
  for _ in range(int(rounds) if work != "none" else 0):
      start = time.process_time()
      image = pyvips.Image.new_from_memory(pixels, width, height, 3, "uchar")
      result = run(image).write_to_memory()
      times.append((time.process_time() - start) * 1000)
  if times:
      open(target, "wb").write(result)
      print(sorted(times)[len(times) // 2])
  """

private let pillow = """
  import sys, time
  from PIL import Image, ImageFilter, ImageDraw
  work, source, width, height, target, rounds = sys.argv[1:]
  width, height = int(width), int(height)
  image = Image.frombytes("RGB", (width, height), open(source, "rb").read())
  def corners():
      mask = Image.new("L", image.size, 0)
      ImageDraw.Draw(mask).rounded_rectangle((0, 0, width - 1, height - 1), 100, fill=255)
      result = image.copy()
      result.putalpha(mask)
      return result
  def run():
      if work == "corners": return corners()
      kind, amount = work.split("-")
      if kind == "blur": return image.filter(ImageFilter.GaussianBlur(float(amount)))
      if kind == "sharpen": return image.filter(ImageFilter.UnsharpMask(float(amount), 150, 0))
      if kind == "rotate": return image.convert("RGBA").rotate(-7, Image.BICUBIC, expand=True)
      amount = int(amount)
      return image.resize((amount, round(height * amount / width)), Image.LANCZOS, reducing_gap=2.0)
  times = []
  for _ in range(int(rounds) if work != "none" else 0):
      start = time.process_time()
      result = run()
      times.append((time.process_time() - start) * 1000)
  if times:
      open(target, "wb").write(result.tobytes())
      print(sorted(times)[len(times) // 2])
  """

private let openCV = """
  import sys, time, cv2, numpy
  cv2.setNumThreads(1)
  work, source, width, height, target, rounds = sys.argv[1:]
  width, height = int(width), int(height)
  image = numpy.fromfile(source, numpy.uint8).reshape(height, width, 3)
  def run():
      kind, amount = work.split("-")
      if kind == "blur": return cv2.GaussianBlur(image, (0, 0), float(amount))
      amount = int(amount)
      return cv2.resize(image, (amount, round(height * amount / width)), interpolation=cv2.INTER_AREA)
  times = []
  for _ in range(int(rounds) if work != "none" else 0):
      start = time.process_time()
      result = run()
      times.append((time.process_time() - start) * 1000)
  if times:
      result.tofile(target)
      print(sorted(times)[len(times) // 2])
  """
