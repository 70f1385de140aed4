import Foundation
import VitrineImaging

/// Pixels decoded by another program: RGBA, straight alpha.
struct Picture {
  let width: Int
  let height: Int
  let pixels: [UInt8]
  let program: String
  /// Set if the program has applied the orientation of the file.
  var isUpright = true

  init?(width: Int, height: Int, pixels: [UInt8], program: String) {
    guard width > 0, height > 0, pixels.count == width * height * 4 else { return nil }
    (self.width, self.height, self.pixels, self.program) = (width, height, pixels, program)
  }

  subscript(x: Int, y: Int) -> SIMD4<UInt8> {
    let at = (y * width + x) * 4
    return SIMD4(pixels[at], pixels[at + 1], pixels[at + 2], pixels[at + 3])
  }

  /// Returns the image upright, by its EXIF orientation.
  func upright(_ orientation: Int) -> Picture? {
    guard orientation != 1 else { return self }
    let isTurned = orientation > 4
    let (newWidth, newHeight) = isTurned ? (height, width) : (width, height)
    var turned = [UInt8](repeating: 0, count: pixels.count)
    for y in 0..<newHeight {
      for x in 0..<newWidth {
        // The stored place of the upright pixel: mirrored, upside down, or transposed.
        let (mirroredX, mirroredY) = (width - 1, height - 1)
        let source: (x: Int, y: Int) =
          switch orientation {
          case 2: (mirroredX - x, y)
          case 3: (mirroredX - x, mirroredY - y)
          case 4: (x, mirroredY - y)
          case 5: (y, x)
          case 6: (y, mirroredY - x)
          case 7: (mirroredX - y, mirroredY - x)
          default: (mirroredX - y, x)
          }
        let (from, to) = ((source.y * width + source.x) * 4, (y * newWidth + x) * 4)
        for index in 0..<4 { turned[to + index] = pixels[from + index] }
      }
    }
    return Picture(width: newWidth, height: newHeight, pixels: turned, program: program)
  }
}

/// The programs to compare a file with, those best established for its format first.
func opinions(on file: String, _ format: ImageFormat) -> [() -> Picture?] {
  let scratchPicture = scratch.appending(path: "other.png").path
  let own: [() -> Picture?] =
    switch format {
    case .jpeg: [{ netpbm(["djpeg", "-dct", "int", "-ppm", file]) }]
    case .webp: [{ netpbm(["dwebp", "-quiet", file, "-pam", "-o", "-"]) }]
    case .avif:
      // This one shows the stored image, neither cropped nor rotated.
      [
        {
          written(
            by: ["avifdec", "--no-strict", "--ignore-icc", "-d", "8", file],
            to: scratchPicture,
            isUpright: false,
          )
        },
        { written(by: ["heif-convert", "--quiet", file], to: scratchPicture) },
      ]
    case .heic: [{ written(by: ["heif-convert", "--quiet", file], to: scratchPicture) }]
    case .jxl: [{ written(by: ["djxl", "--quiet", "--num_threads=1", file], to: scratchPicture) }]
    case .tiff:
      [
        {
          written(
            by: ["tiff2rgba", "-c", "none", file],
            to: scratch.appending(path: "other.tiff").path,
            isUpright: false,
          )
        }
      ]
    default: []
    }
  return [{ expected(of: file) }] + own + [{ magick(file, format) }, { pillow(file) }]
}

/// The expected image that a test suite has for a file, if any.
private func expected(of file: String) -> Picture? {
  let beside = file.replacing("/tests/images/", with: "/tests/reference/")
  guard beside != file else { return nil }
  let names = [beside + ".png", beside + ".anim_01.png"]
  return names.first { FileManager.default.fileExists(atPath: $0) }.flatMap { pillow($0, as: "expected") }
}

/// Runs a program that writes a file.
private func written(by command: [String], to target: String, isUpright: Bool = true) -> Picture? {
  try? FileManager.default.removeItem(atPath: target)
  guard output(command + [target]).status == 0 else { return nil }
  var picture = pillow(target, as: command[0])
  picture?.isUpright = isUpright
  return picture
}

private func pillow(_ file: String, as name: String = "Pillow") -> Picture? {
  // Pillow would keep the low byte of 16-bit gray.
  let script = """
    import sys
    from PIL import Image
    image = Image.open(sys.argv[1])
    if image.mode.startswith("I"):
        image = image.convert("I").point(lambda level: level * (1 / 257) + 0.5).convert("L")
    image = image.convert("RGBA")
    header = "P7\\nWIDTH %d\\nHEIGHT %d\\nDEPTH 4\\nMAXVAL 255\\nTUPLTYPE RGB_ALPHA\\nENDHDR\\n" % image.size
    sys.stdout.buffer.write(header.encode() + image.tobytes())
    """
  return netpbm(["python3", "-c", script, file], as: name)
}

private func magick(_ file: String, _ format: ImageFormat) -> Picture? {
  // Of an icon the largest image counts, of an animation the first frame.
  let layer = format == .ico ? largestLayer(file) : 0
  let coalesced = format == .gif || format == .webp ? ["-coalesce"] : []
  return netpbm(
    ["convert", "\(file)[\(layer)]"] + coalesced
      + ["-alpha", "on", "-depth", "8", "-type", "TrueColorAlpha", "pam:-"]
  )
}

private func largestLayer(_ file: String) -> Int {
  let layers = output(["convert", file, "-format", "%w %h %s\n", "info:"]).text.split(separator: "\n")
    .map { $0.split(separator: " ").compactMap { Int($0) } }.filter { $0.count == 3 }
  return layers.max { $0[0] * $0[1] < $1[0] * $1[1] }?[2] ?? 0
}

/// Parses PPM, PGM and PAM with 8 bits.
private func netpbm(_ command: [String], as name: String? = nil) -> Picture? {
  let bytes = outputBytes(command)
  guard bytes.count > 8, bytes[0] == UInt8(ascii: "P") else { return nil }
  var (fields, offset): ([Int], Int) = ([], 2)
  if bytes[1] == UInt8(ascii: "7") {
    guard let end = Data(bytes).firstRange(of: Data("ENDHDR\n".utf8))?.upperBound else { return nil }
    var named: [String: Int] = [:]
    for line in String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2 { named[String(words[0])] = Int(words[1]) }
    }
    (fields, offset) = ([named["WIDTH"] ?? 0, named["HEIGHT"] ?? 0, named["DEPTH"] ?? 0], end)
  } else {
    while fields.count < 3, offset < bytes.count {
      let word = bytes[offset...].drop { $0 <= 32 }.prefix { $0 > 32 }
      offset = word.endIndex
      fields.append(Int(String(decoding: word, as: UTF8.self)) ?? 0)
    }
    fields[2] = bytes[1] == UInt8(ascii: "5") ? 1 : 3
    offset += 1
  }
  let (width, height, depth) = (fields[0], fields[1], fields[2])
  guard width > 0, height > 0, [1, 3, 4].contains(depth), bytes.count >= offset + width * height * depth else {
    return nil
  }
  var pixels = [UInt8](repeating: 255, count: width * height * 4)
  for index in 0..<width * height {
    let (from, to) = (offset + index * depth, index * 4)
    for channel in 0..<max(3, depth) { pixels[to + channel] = bytes[depth == 1 ? from : from + channel] }
  }
  return Picture(width: width, height: height, pixels: pixels, program: name ?? command[0])
}

func output(_ command: [String]) -> (text: String, status: Int32) {
  let result = run(command)
  return (String(decoding: result.bytes, as: UTF8.self), result.status)
}

func outputBytes(_ command: [String]) -> [UInt8] {
  let result = run(command)
  return result.status == 0 ? [UInt8](result.bytes) : []
}

private func run(_ command: [String]) -> (bytes: Data, status: Int32) {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  // The packages of `make setup` come before any other python3 or convert.
  let path = ProcessInfo.processInfo.environment["PATH"] ?? "/bin"
  process.arguments = ["PATH=/usr/bin:\(path)", "timeout", "60"] + command
  let pipe = Pipe()
  process.standardInput = FileHandle.nullDevice
  process.standardOutput = pipe
  process.standardError = FileHandle.nullDevice
  guard (try? process.run()) != nil else { return (Data(), 127) }
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return (data, process.terminationStatus)
}
