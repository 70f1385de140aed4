import Foundation

/// Many photographs at once, with one process of each program where it takes several files.
///
/// The files are copies, as in a folder of photographs, and in the cache of the system.
func reportBatch(_ photographs: [Input], count: Int = 200) {
  guard !photographs.isEmpty else { return }
  let folder = scratch.appending(path: "batch").path
  try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  let files = (0..<count).compactMap { index -> String? in
    let path = "\(folder)/\(index).jpg"
    guard (try? FileManager.default.copyItem(atPath: photographs[index % photographs.count].path, toPath: path)) != nil
    else { return nil }
    return path
  }
  guard files.count == count else { return print("\nThere is no room for a batch of \(count) photographs.") }
  let target = scratch.appending(path: "batch-thumbnails").path
  let processors = ProcessInfo.processInfo.activeProcessorCount
  let commands: [(name: String, command: [String])] = [
    ("vitrine", [vitrine, "thumbnail"] + files + ["-o", target + "/", "--size", "300"]),
    ("vitrine, 1 job", [vitrine, "thumbnail"] + files + ["-o", target + "/", "--size", "300", "--jobs", "1"]),
    ("vipsthumbnail", ["vipsthumbnail"] + files + ["--size", "300x300>", "-o", "\(target)/%s.jpg[Q=85]"]),
    ("Pillow", ["python3", "-c", pillowBatch, target, "300"] + files),
    (
      "ImageMagick",
      ["mogrify", "-define", "jpeg:size=600x600", "-path", target, "-auto-orient", "-thumbnail", "300x300>"] + files,
    ),
  ]
  print(
    "\nA batch of \(count) photographs to 300 px as JPEG, \(photographs.count) different ones; \(processors) processors"
  )
  print(
    "  " + column("", 22) + column("CPU s", 8) + column("wall s", 8) + column("a photograph, CPU ms", 22) + "peak MB"
  )
  for (name, command) in commands {
    let runs = (0..<rounds).compactMap { _ -> Run? in
      try? FileManager.default.removeItem(atPath: target)
      try? FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
      let run = measured(command)
      let made = (try? FileManager.default.contentsOfDirectory(atPath: target))?.count
      return made == count ? run : nil
    }
    guard let run = runs.least else {
      print("  \(column(name, 22))-")
      continue
    }
    print(
      "  " + column(name, 22) + column(number(run.cpu / 1000, 2), 8) + column(number(run.wall / 1000, 2), 8)
        + column(number(run.cpu / Double(count)), 22) + number(run.peak)
    )
  }
}

private let pillowBatch = """
  import os, sys
  from PIL import Image, ImageOps
  folder, size = sys.argv[1], int(sys.argv[2])
  for path in sys.argv[3:]:
    image = Image.open(path)
    image.draft("RGB", (size, size))
    image.thumbnail((size, size), Image.LANCZOS, reducing_gap=2.0)
    ImageOps.exif_transpose(image).save(os.path.join(folder, os.path.basename(path)), quality=85)
  """
