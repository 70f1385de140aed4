import Foundation
import VitrineImaging
import VitrineTesting

/// The cost of a process, including its children.
struct Run {
  /// Milliseconds.
  let cpu: Double
  /// Milliseconds.
  let wall: Double
  /// Megabytes.
  let peak: Double
}

extension [Run] {
  /// The least of each, since other programs on the machine only add to it.
  var least: Run? {
    guard let cpu = map(\.cpu).min(), let wall = map(\.wall).min(), let peak = map(\.peak).min() else { return nil }
    return Run(cpu: cpu, wall: wall, peak: peak)
  }
}

func geometricMean(_ values: [Double]) -> Double { exp(values.map { log($0) }.reduce(0, +) / Double(values.count)) }

func output(_ command: [String]) -> (text: String, status: Int32) {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  // The packages of `make setup` come before any other python3 or convert.
  process.arguments = ["PATH=/usr/bin:\(environment["PATH"] ?? "/bin")"] + command
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = FileHandle.nullDevice
  guard (try? process.run()) != nil else { return ("", 127) }
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return (String(decoding: data, as: UTF8.self), process.terminationStatus)
}

func measured(_ command: [String]) -> Run? {
  let fields = output([measure] + command).text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
  guard fields.count == 4, fields[3] == 0 else { return nil }
  return Run(cpu: fields[0] / 1000, wall: fields[1] / 1000, peak: fields[2] / 1024)
}

/// Makes a thumbnail with `contestant`, or returns `nil` if it fails.
func measured(_ contestant: Contestant, _ input: Input, _ size: Int, as fileExtension: String? = nil) -> Run? {
  let target = contestant.target(fileExtension ?? contestant.fileExtension)
  try? FileManager.default.removeItem(atPath: target)
  let run = measured(contestant.command(Job(input: input, output: target, size: size)))
  return FileManager.default.fileExists(atPath: target) ? run : nil
}

/// Whole images, shrunk with Lanczos3 to exactly the sizes that the contestants produced.
///
/// vips is no contestant in this form: without "gap" it filters at full resolution, and in floats. With bytes it rounds
/// the weights and intermediate values. That is a noise of 48 dB, more than the errors to be judged. The axes are
/// separate, since their scales may differ by rounding.
struct Reference {
  private let precise = scratch.appending(path: "precise.v").path
  private let width: Double
  private let height: Double
  private let isHEIC: Bool
  private var made: [String: Bitmap] = [:]

  init?(_ input: Input) {
    // vips writes its own format fastest; the other programs support only PNG.
    let decoded = scratch.appending(path: input.kind.isJPEG || input.kind == .png ? "whole.v" : "whole.png").path
    guard output(input.kind.decode(input.path, to: decoded)).status == 0,
      output(["vips", "cast", decoded, precise, "float"]).status == 0,
      let width = Self.field("width", precise), let height = Self.field("height", precise)
    else { return nil }
    (self.width, self.height, isHEIC) = (width, height, input.kind == .heic)
  }

  private static func field(_ name: String, _ path: String) -> Double? {
    Double(output(["vipsheader", "-f", name, path]).text.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  /// The signal-to-noise ratio in decibels, or `nil` if there is no image to compare.
  mutating func psnr(of path: String) -> Double? {
    guard let data = try? data(path), let picture = try? Bitmap(decoding: data) else { return nil }
    return shrunk(to: picture.width, picture.height).flatMap { picture.psnr(against: $0) }
  }

  private mutating func shrunk(to width: Int, _ height: Int) -> Bitmap? {
    if let bitmap = made["\(width)x\(height)"] { return bitmap }
    let names = ["wide.v", "narrow.v", "whole.v", "reference.png"].map { scratch.appending(path: $0).path }
    _ = output(["vips", "reduceh", precise, names[0], "\(self.width / Double(width))", "--kernel", "lanczos3"])
    _ = output(["vips", "reducev", names[0], names[1], "\(self.height / Double(height))", "--kernel", "lanczos3"])
    _ = output(["vips", "round", names[1], names[2], "rint"])
    _ = output(["vips", "cast", names[2], names[3], "uchar"])
    // The EXIF orientation repeats what the HEIC decoder has done already, and is dropped. The profile is dropped with
    // it, so colours are converted first.
    if isHEIC {
      let converted = names[3] + "[strip]"
      let bytes = scratch.appending(path: "bytes.v").path
      _ = output(["vips", "cast", names[2], bytes, "uchar"])
      if output(["vips", "icc_transform", bytes, names[0], "srgb", "--embedded", "--depth", "8"]).status == 0 {
        _ = output(["vips", "cast", names[0], converted, "uchar"])
      } else {
        _ = output(["vips", "cast", names[2], converted, "uchar"])
      }
    }
    guard let data = try? data(names[3]), let bitmap = try? Bitmap(decoding: data), bitmap.width == width,
      bitmap.height == height
    else { return nil }
    made["\(width)x\(height)"] = bitmap
    return bitmap
  }
}

func column(_ text: String, _ width: Int) -> String {
  text.count >= width ? text + " " : text + String(repeating: " ", count: width - text.count)
}

func number(_ value: Double, _ places: Int = 1) -> String { String(format: "%.\(places)f", value) }
