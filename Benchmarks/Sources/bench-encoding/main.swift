import Foundation
import VitrineAVIF
import VitrineImaging
import VitrineJXL

// Compares encoders with libvips, Pillow and each format's own tool: CPU time, bytes and quality of the same pixels.

let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path

let encoders: EncoderRegistry = {
  var encoders = EncoderRegistry.standard
  encoders.add(.avif)
  encoders.add(.jxl)
  return encoders
}()

let decoders: DecoderRegistry = {
  var decoders = DecoderRegistry.standard
  decoders.add(.avif)
  decoders.add(.jxl)
  return decoders
}()

if CommandLine.arguments.count == 7 {
  try encode(Array(CommandLine.arguments.dropFirst()))
} else {
  try compare()
}

/// Encodes in a process of its own, as the peers do; see the C program for the arguments.
func encode(_ arguments: [String]) throws {
  guard let work = Work.all.first(where: { $0.name == arguments[0] }), let width = Int(arguments[2]),
    let height = Int(arguments[3]), let rounds = Int(arguments[5])
  else { exit(64) }
  let bytes = [UInt8](try Data(contentsOf: URL(filePath: arguments[1])))
  let bitmap = Bitmap(width: width, height: height, alpha: .opaque) { (pixels: UnsafeMutableRawBufferPointer) in
    for index in 0..<width * height {
      for component in 0..<3 { pixels[index * 4 + component] = bytes[index * 3 + component] }
      pixels[index * 4 + 3] = 255
    }
  }
  var times: [Double] = []
  var file = Data()
  for _ in 0..<rounds {
    let start = milliseconds()
    file = try encoders.encode(bitmap, as: work.encoding)
    times.append(milliseconds() - start)
  }
  try file.write(to: URL(filePath: arguments[4]))
  print(times.sorted()[rounds / 2])
}

/// The CPU time of the process.
func milliseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
}

struct Picture {
  let bitmap: Bitmap
  let raw: String
  let ppm: String
  let png: String
}

struct Result {
  var milliseconds = 0.0
  var bytes = 0
  var squares = 0.0
  var samples = 0

  var psnr: String {
    guard samples > 0 else { return "" }
    return squares == 0 ? "exact" : text(10 * log10(255 * 255 * Double(samples) / squares))
  }
}

func compare() throws {
  let scratch = FileManager.default.temporaryDirectory.appending(path: "vitrine-encoding-\(getpid())")
  try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: scratch) }
  let names = ["waterfall-cliff-large.jpg", "autumn-avenue-nikon.jpg", "macaws-444.jpg", "lighthouse-progressive.jpg"]
  say("# Encoders\n")
  say(
    "One thread. The sum over \(names.count) photographs: CPU time of encoding, and bytes; PSNR of all their samples."
  )
  say(
    "libvips, Pillow and Vitrine encode pixels in memory, the median of several times. The tools are whole processes,"
  )
  say("less what they take for a picture of 16x12 pixels. The lesser of two runs in turn.\n")
  var failed = false
  for (width, height) in [(300, 225), (1200, 900)] {
    let photographs = try names.map { name in
      let file = try Data(contentsOf: URL(filePath: "Examples/Photographs/\(name)"))
      return try picture(file, width, height, scratch.appending(path: "\(width)-\(name)").path)
    }
    say("## \(width)x\(height)\n")
    for work in Work.all { failed = try !contest(work, photographs, scratch) || failed }
  }
  say("## A drawing of 900x600\n")
  let drawing = try keep(chart(900, 600), scratch.appending(path: "drawing").path)
  for work in Work.all where work.isLossless { failed = try !contest(work, [drawing], scratch) || failed }
  exit(failed ? 3 : 0)
}

/// Lets all contestants encode all pictures, and prints the table; returns whether every file was right.
func contest(_ work: Work, _ pictures: [Picture], _ scratch: URL) throws -> Bool {
  say("### \(work.title)\n\n| | CPU ms | bytes | PSNR dB |\n|---|---:|---:|---:|")
  let output = scratch.appending(path: "output.\(work.encoding.format?.fileExtension ?? "bin")").path
  var isRight = true
  var contestants: [(name: String, run: (Picture) throws -> Double?)] = [
    ("Vitrine", { try timed(["\(folder)/bench-encoding", work.name], $0, output) })
  ]
  if let vips = work.vips {
    contestants.append(("libvips", { try timed(["\(folder)/vips-encoding", vips], $0, output) }))
  }
  if let pillow = work.pillow {
    contestants.append(("Pillow", { try timed(["/usr/bin/python3", "-c", pillowScript, pillow], $0, output) }))
  }
  if let program = work.program {
    let tiny = try keep(chart(16, 12), scratch.appending(path: "tiny").path)
    func input(_ picture: Picture) -> String { work.inputExtension == "png" ? picture.png : picture.ppm }
    contestants.append(
      (
        program("", "")[0],
        { picture in
          guard let base = measured(program(input(tiny), output)) else { return nil }
          return measured(program(input(picture), output)).map { max(0, $0 - base) }
        },
      )
    )
  }
  for (name, run) in contestants {
    var result = Result()
    for picture in pictures {
      var best = Double.infinity
      for _ in 0..<2 {
        try? FileManager.default.removeItem(atPath: output)
        if let time = try run(picture) { best = min(best, time) }
      }
      guard best.isFinite, let file = FileManager.default.contents(atPath: output) else { break }
      result.milliseconds += best
      result.bytes += file.count
      let decoded = try decoders.decode(file).bitmap
      guard decoded.width == picture.bitmap.width, decoded.height == picture.bitmap.height else { break }
      let squares = difference(decoded, picture.bitmap)
      if name == "Vitrine", work.isLossless, squares > 0 { isRight = false }
      result.squares += squares
      result.samples += decoded.width * decoded.height * 3
    }
    guard result.samples == pictures.reduce(0, { $0 + $1.bitmap.width * $1.bitmap.height * 3 }) else {
      say("| \(name) | | | writes no such file here |")
      continue
    }
    say("| \(name) | \(text(result.milliseconds)) | \(result.bytes) | \(result.psnr) |")
  }
  say(isRight ? "" : "\nwrong pixels\n")
  return isRight
}

/// Runs a contestant that prints its own time.
func timed(_ command: [String], _ picture: Picture, _ output: String) throws -> Double? {
  let sizes = ["\(picture.bitmap.width)", "\(picture.bitmap.height)"]
  let rounds = picture.bitmap.width <= 300 ? "9" : "3"
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = command + [picture.raw] + sizes + [output, rounds]
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = FileHandle.nullDevice
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return Double(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
}

/// Runs a program and returns its CPU time; `nil` if it fails.
func measured(_ command: [String]) -> Double? {
  let process = Process()
  process.executableURL = URL(filePath: "\(folder)/measure")
  process.arguments = command
  let pipe = Pipe()
  process.standardOutput = pipe
  guard (try? process.run()) != nil else { return nil }
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  let fields = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
  guard fields.count == 4, fields[3] == "0", let microseconds = Double(fields[0]) else { return nil }
  return microseconds / 1000
}

func picture(_ file: Data, _ width: Int, _ height: Int, _ path: String) throws -> Picture {
  let size = TargetSize.pixels(Double(width), Double(height), .fill, enlarges: true)
  return try keep(try Bitmap(decoding: file, size: size), path)
}

/// Writes a picture in the forms that the contestants read.
func keep(_ bitmap: Bitmap, _ path: String) throws -> Picture {
  var raw = Data(capacity: bitmap.width * bitmap.height * 3)
  bitmap.withUnsafeBytes { (pixels: UnsafeRawBufferPointer) in
    for index in 0..<bitmap.width * bitmap.height { raw.append(contentsOf: pixels[index * 4..<index * 4 + 3]) }
  }
  let picture = Picture(bitmap: bitmap, raw: path + ".raw", ppm: path + ".ppm", png: path + ".png")
  try raw.write(to: URL(filePath: picture.raw))
  try (Data("P6\n\(bitmap.width) \(bitmap.height)\n255\n".utf8) + raw).write(to: URL(filePath: picture.ppm))
  try bitmap.encoded(as: .png).write(to: URL(filePath: picture.png))
  return picture
}

/// The sum of the squares of all differences.
func difference(_ left: Bitmap, _ right: Bitmap) -> Double {
  left.withUnsafeBytes { (left: UnsafeRawBufferPointer) in
    right.withUnsafeBytes { (right: UnsafeRawBufferPointer) in
      var sum = 0
      for index in left.indices where index % 4 != 3 {
        let difference = Int(left[index]) - Int(right[index])
        sum += difference * difference
      }
      return Double(sum)
    }
  }
}

/// A chart: flat areas, thin lines, discs with soft edges, and something like text.
func chart(_ width: Int, _ height: Int) -> Bitmap {
  Bitmap(width: width, height: height, alpha: .opaque) { (pixels: UnsafeMutableRawBufferPointer) in
    for y in 0..<height {
      for x in 0..<width {
        var color: (Double, Double, Double) = (250, 250, 248)
        if x % 60 == 0 || y % 40 == 0 { color = (220, 222, 226) }
        let bar = x / 45
        if x % 45 > 8, y > height - (bar * 83 % height) { color = (40 + Double(bar * 37 % 200), 90, 160) }
        let distance = hypot(Double(x) - Double(width) * 0.7, Double(y) - Double(height) * 0.35)
        let inside = min(1, max(0, Double(height) * 0.2 - distance))
        color = (
          color.0 + (210 - color.0) * inside, color.1 + (70 - color.1) * inside, color.2 + (60 - color.2) * inside,
        )
        // Strokes that repeat as letters do.
        if y % 24 > 14, y % 24 < 22, y < height / 3, (x * 7 / 5 + y / 24 * 13) % 11 < 3, x > 20, x < width / 2 {
          color = (30, 30, 34)
        }
        let place = (y * width + x) * 4
        pixels[place] = UInt8(color.0)
        pixels[place + 1] = UInt8(color.1)
        pixels[place + 2] = UInt8(color.2)
        pixels[place + 3] = 255
      }
    }
  }
}

/// Prints a line at once, also into a file.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func text(_ value: Double, _ places: Int = 1) -> String { String(format: "%.\(places)f", value) }
