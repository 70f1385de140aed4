import Foundation
import VitrineAVIF
import VitrineImaging
import VitrineJXL
import VitrineTIFF

// make check NAME=conformance PARTS=frames: all frames of every animation that is available, beside those of other programs.
//
// Each frame of a `FrameSource` must be the one that is decoded by itself, to the last bit. That one, without colour
// conversion, must be the one of another program, and so must its delay.

/// The frames of an animation as another program shows them.
private struct Film {
  let program: String
  var frames: [Picture]
  /// The duration of each frame in seconds, as it is stored; empty if the program does not tell.
  var delays: [Double]
}

/// Compares all animations, and prints a table; returns whether all is well.
@MainActor
func compareFrames() -> Bool {
  var plain = DecoderRegistry.standard
  for decoder in [AVIFDecoder(), JXLDecoder(), TIFFDecoder()] as [any ImageDecoder] { plain.add(decoder) }
  print("# Frames of animations\n")
  print("Each frame beside that of another program: the largest difference of a component, and the delays.\n")
  print("| file | frames | other program | most | delays | |\n|---|---:|---|---:|---|---|")
  var (isGood, count) = (true, 0)
  for file in files {
    guard let data = FileManager.default.contents(atPath: file.path),
      let info = try? plain.info(of: data), info.frameCount > 1, info.duration > 0
    else { continue }
    count += 1
    let (row, isSame) = judgeFrames(of: file, data, info, plain)
    isGood = isGood && isSame
    print(row)
  }
  for line in explanations.stale(in: folders.map { URL(filePath: $0).lastPathComponent }) {
    print("\nunused explanation: \(line.kind) \(line.pattern)")
    isGood = false
  }
  print("\n\(count) animations: \(isGood ? "all frames and delays are as they should be" : "SOME DIFFER")")
  return isGood && count > 0
}

@MainActor
private func judgeFrames(
  of file: (path: String, name: String),
  _ data: Data,
  _ info: ImageInfo,
  _ plain: DecoderRegistry,
) -> (row: String, isSame: Bool) {
  var notes: [String] = []
  do {
    var source = try FrameSource(data, decoders: plain)
    while let frame = try source.next() {
      var options = DecodeOptions()
      options.frame = frame.index
      let alone = try plain.decode(data, options).bitmap
      if picture(of: alone).flatMap({ difference(frame.bitmap, $0) }) != 0 {
        notes.append("frame \(frame.index) is another by itself")
      }
    }
    let delays = source.delays
    var nearest: (film: Film, most: Int)?
    for film in films(of: file.path, info.format) {
      guard let film = film(), let most = try mostDifference(data, info, film) else { continue }
      if nearest.map({ most < $0.most }) ?? true { nearest = (film, most) }
      if most <= tolerance(info.format, info), !film.delays.isEmpty { break }
    }
    guard let nearest else {
      let reason = explanations.unchecked(file.name)
      return ("| \(file.name) | \(info.frameCount) | none | | | \(reason ?? "")", reason != nil && notes.isEmpty)
    }
    var isSame = notes.isEmpty
    if nearest.most > tolerance(info.format, info) {
      let reason = explanations.difference(file.name, by: nearest.most)
      notes.append(reason ?? "WRONG")
      isSame = isSame && reason != nil
    }
    let shown = nearest.film.delays.map { $0 <= 0.0105 ? 0.1 : $0 }
    let areDelaysSame = zip(delays, shown).allSatisfy { abs($0 - $1) < 0.0006 } && shown.count == delays.count
    let told = nearest.film.delays.isEmpty ? "not told" : areDelaysSame ? "same" : "\(delays) and not \(shown)"
    let row =
      "| \(file.name) | \(info.frameCount) | \(nearest.film.program) | \(nearest.most) | \(told) | "
      + notes.joined(separator: "; ")
    return (row, isSame && (areDelaysSame || nearest.film.delays.isEmpty))
  } catch {
    let reason = explanations.refusal(file.name, code: (error as? ImageError).map { "\($0.code)" } ?? "")
    return ("| \(file.name) | \(info.frameCount) | refused | | | \(reason ?? "\(error)")", reason != nil)
  }
}

/// The largest difference of any frame, without colour conversion; `nil` for another number of frames.
@MainActor
private func mostDifference(_ data: Data, _ info: ImageInfo, _ film: Film) throws -> Int? {
  guard film.frames.count == info.frameCount else { return nil }
  var most = 0
  for (index, other) in film.frames.enumerated() {
    var options = DecodeOptions()
    options.frame = index
    most = max(most, difference(try decoders.decode(data, options).bitmap, other) ?? 256)
  }
  return most
}

private func picture(of bitmap: Bitmap) -> Picture? {
  let pixels = bitmap.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> [UInt8] in Array(bytes) }
  return Picture(width: bitmap.width, height: bitmap.height, pixels: pixels, program: "Vitrine")
}

// MARK: Other programs

private func films(of file: String, _ format: ImageFormat) -> [() -> Film?] {
  switch format {
  case .avif: [{ avifdec(file) }]
  case .jxl:
    [
      {
        let target = scratch.appending(path: "film.apng").path
        try? FileManager.default.removeItem(atPath: target)
        return output(["djxl", "--quiet", file, target]).status == 0 ? pillowFilm(target, as: "djxl") : nil
      }
    ]
  default: [{ pillowFilm(file, as: "Pillow") }, { magickFilm(file) }, { expectedFilm(file) }]
  }
}

/// The expected frames that a test suite has for a file, if any.
private func expectedFilm(_ file: String) -> Film? {
  let beside = file.replacing("/tests/images/", with: "/tests/reference/")
  guard beside != file else { return nil }
  let names = (1...99).map { "\(beside).anim_\($0 < 10 ? "0" : "")\($0).png" }
  let frames = names.prefix { FileManager.default.fileExists(atPath: $0) }
    .compactMap { pillowFilm($0, as: "expected")?.frames.first }
  return frames.isEmpty ? nil : Film(program: "expected", frames: frames, delays: [])
}

/// Lets a program write lines `WIDTH HEIGHT MILLISECONDS`, each followed by the pixels.
private func pillowFilm(_ file: String, as name: String) -> Film? {
  let script = """
    import sys
    from PIL import Image
    image = Image.open(sys.argv[1])
    for frame in range(getattr(image, "n_frames", 1)):
        image.seek(frame)
        pixels = image.convert("RGBA")
        delay = float(image.info.get("duration", 0))
        sys.stdout.buffer.write(("%d %d %f\\n" % (pixels.size + (delay,))).encode() + pixels.tobytes())
    """
  let bytes = outputBytes(["/usr/bin/python3", "-c", script, file])
  var film = Film(program: name, frames: [], delays: [])
  var offset = 0
  while let end = bytes[offset...].firstIndex(of: 10) {
    let words = String(decoding: bytes[offset..<end], as: UTF8.self).split(separator: " ").compactMap { Double($0) }
    guard words.count == 3 else { return nil }
    let (width, height) = (Int(words[0]), Int(words[1]))
    let next = end + 1 + width * height * 4
    guard next <= bytes.count,
      let frame = Picture(width: width, height: height, pixels: Array(bytes[end + 1..<next]), program: name)
    else { return nil }
    film.frames.append(frame)
    film.delays.append(words[2] / 1000)
    offset = next
  }
  return film.frames.isEmpty ? nil : film
}

private func magickFilm(_ file: String) -> Film? {
  // An APNG is one picture to it.
  let lines = output(["convert", file, "-coalesce", "-format", "%w %h %T\n", "info:"]).text.split(separator: "\n")
    .map { $0.split(separator: " ").compactMap { Int($0) } }.filter { $0.count == 3 }
  let bytes = outputBytes(["convert", file, "-coalesce", "-alpha", "on", "-depth", "8", "rgba:-"])
  var film = Film(program: "ImageMagick", frames: [], delays: [])
  var offset = 0
  for line in lines {
    let next = offset + line[0] * line[1] * 4
    guard next <= bytes.count,
      let frame = Picture(width: line[0], height: line[1], pixels: Array(bytes[offset..<next]), program: "ImageMagick")
    else { return nil }
    film.frames.append(frame)
    film.delays.append(Double(line[2]) / 100)
    offset = next
  }
  return film.frames.isEmpty ? nil : film
}

private func avifdec(_ file: String) -> Film? {
  let text = output(["avifdec", "--no-strict", "--info", file]).text
  // ` * Decoded frame [0] [pts 0.00 (0 timescales)] [duration 0.03 (1 timescales)] [150x150]`
  let unit = text.split(separator: "\n").first { $0.contains("timescales per second") }?
    .split(separator: " ").compactMap { Double($0) }.first
  let delays = text.split(separator: "\n").filter { $0.contains("Decoded frame") }.compactMap { line -> Double? in
    guard let start = line.firstRange(of: "[duration ")?.upperBound,
      let count = line[start...].firstRange(of: "(")?.upperBound
    else { return nil }
    return Double(line[count...].prefix { $0.isNumber })
  }
  guard let unit, !delays.isEmpty else { return nil }
  var film = Film(program: "avifdec", frames: [], delays: delays.map { $0 / unit })
  for index in delays.indices {
    let target = scratch.appending(path: "frame.png").path
    try? FileManager.default.removeItem(atPath: target)
    let command = ["avifdec", "--no-strict", "--ignore-icc", "-d", "8", "--index", "\(index)", file, target]
    guard output(command).status == 0, let frame = pillowFilm(target, as: "avifdec")?.frames.first else { return nil }
    film.frames.append(frame)
  }
  return film
}
