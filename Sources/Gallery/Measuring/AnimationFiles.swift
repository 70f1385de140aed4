import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTesting

/// The animations that are measured: the files that were given, and some of 25 frames a second that are made here, one in each
/// format.
struct AnimationFiles {
  struct File {
    let name: String
    let data: Data

    /// A request whose bytes are read anew, under a name of its own, so that it shares nothing with others.
    func request(_ id: String) -> ImageRequest {
      let data = data
      return ImageRequest(
        .closure(id: "\(name) \(id)") {
          // A copy: bytes that come from a server are shared with nobody.
          Data(Array(data))
        }
      )
    }
  }

  private(set) var all: [File] = []

  init(_ paths: [String]) throws(Options.Mistake) {
    for path in paths {
      do {
        let data = try FileContents.at(path)
        guard try GalleryPipeline.decoders.info(of: data).frameCount > 1 else { continue }
        all.append(File(name: path.split(separator: "/").last.map(String.init) ?? path, data: data))
      } catch {
        throw Options.Mistake(message: "\(path): \(error)")
      }
    }
    guard !all.isEmpty else { throw Options.Mistake(message: "the sources contain no animation") }
    do throws(ImageError) {
      let apng = try Self.apng(Self.movingDisc())
      all.append(File(name: "moving.png, made here", data: apng))
      var options = DecodeOptions()
      options.animates = true
      let image = try DecoderRegistry.standard.decode(apng, options)
      let encoders = ExternalCodecs().encoders
      let others: [(String, ImageEncoding)] = [("gif", .gif()), ("webp", .webp()), ("avif", ImageEncoding(.avif))]
      for (name, encoding) in others {
        all.append(File(name: "moving.\(name), made here", data: try encoders.encode(image, as: encoding).data))
      }
    } catch {
      throw Options.Mistake(message: "\(error)")
    }
  }

  /// The frames of a disc that goes round over a pattern of more colours than a palette has.
  private static func movingDisc() -> [Bitmap] {
    (0..<frameCount).map { index in
      let angle = 2 * Double.pi * Double(index) / Double(frameCount)
      let (left, top) = (160 + 100 * cos(angle), 120 + 70 * sin(angle))
      return .pixels(width: 320, height: 240, alpha: .opaque) { x, y in
        let (right, down) = (Double(x) - left, Double(y) - top)
        if right * right + down * down < 900 { return SIMD4(240, UInt8(6 * index), 40, 255) }
        return SIMD4(UInt8(x * 3 / 4), UInt8(y), UInt8((x * x + y * y) / 97 & 127), 255)
      }
    }
  }

  private static let frameCount = 40
  /// The delay of each frame that is made here, in milliseconds.
  private static let delay: UInt16 = 40

  /// Writes an APNG: each frame is encoded as a PNG of its own, whose data becomes the frame's.
  ///
  /// All frames have one size and many colours, so that all have the same kind of pixels.
  private static func apng(_ frames: [Bitmap]) throws(ImageError) -> Data {
    var file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    var sequence: UInt32 = 0
    for (index, frame) in frames.enumerated() {
      let chunks = Self.chunks(of: try frame.encoded(as: .png))
      if index == 0 {
        for chunk in chunks where chunk.type == "IHDR" { append("IHDR", chunk.body, to: &file) }
        append("acTL", bytes(UInt32(frames.count)) + bytes(0), to: &file)
      }
      let size = bytes(UInt32(frame.width)) + bytes(UInt32(frame.height))
      let control =
        bytes(sequence) + size + bytes(0) + bytes(0) + [UInt8(delay >> 8), UInt8(delay & 255), 3, 232, 0, 0]
      append("fcTL", control, to: &file)
      sequence += 1
      for chunk in chunks where chunk.type == "IDAT" {
        if index == 0 {
          append("IDAT", chunk.body, to: &file)
        } else {
          append("fdAT", bytes(sequence) + chunk.body, to: &file)
          sequence += 1
        }
      }
    }
    append("IEND", [], to: &file)
    return file
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static func chunks(of png: Data) -> [(type: String, body: [UInt8])] {
    let file = Array(png)
    var (place, chunks) = (8, [(type: String, body: [UInt8])]())
    while place + 12 <= file.count {
      let length = file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      guard place + 12 + length <= file.count else { break }
      let type = String(decoding: file[place + 4..<place + 8], as: UTF8.self)
      chunks.append((type, Array(file[place + 8..<place + 8 + length])))
      place += 12 + length
    }
    return chunks
  }

  private static func append(_ type: String, _ body: [UInt8], to file: inout Data) {
    let content = Array(type.utf8) + body
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in content {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0xEDB8_8320 }
    }
    file.append(contentsOf: bytes(UInt32(body.count)) + content + bytes(~crc))
  }
}
