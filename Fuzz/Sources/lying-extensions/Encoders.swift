import Foundation
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

struct LyingEncoder: ImageEncoder {
  struct Options: EncodingOptions {
    static let names = ["", "a/b", "\0", "ü\r\nX: y", String(repeating: "long ", count: 100_000)]
    var number = 0
    init(quality: Int?, isLossless: Bool) {}
    init(_ number: Int) { self.number = number }
    var identifier: String { Self.names[number % Self.names.count] }
    var commonQuality: Int? { [nil, 0, -1, 101, Int.max, Int.min][number % 6] }
  }

  var format = ImageFormat(name: "lie", mediaType: "image/x-lie", fileExtension: "lie")
  var features = EncoderFeatures.none
  var result: @Sendable (EncoderInput) throws(ImageError) -> Data

  func encode(_ input: EncoderInput, _ options: Options) throws(ImageError) -> Data { try result(input) }
}

func encoderCases() -> [Case] {
  var all: [Case] = []
  let formats = [
    format, .png, .jpeg, .gif, ImageFormat(name: "", mediaType: "", fileExtension: ""),
    ImageFormat(name: "../x", mediaType: "text/html\r\nX: y", fileExtension: "../../x"),
  ]
  let results: [(String, @Sendable (EncoderInput) throws(ImageError) -> Data)] = [
    ("nothing", { (_) throws(ImageError) in Data() }), ("noise", { (_) throws(ImageError) in file }),
    ("the picture", { (_) throws(ImageError) in picture }),
    ("megabytes", { (_) throws(ImageError) in Data(count: 64 << 20) }),
    ("corrupt", { (_) throws(ImageError) in throw ImageError(.corrupt, "lie") }),
    ("cancelled", { (_) throws(ImageError) in throw ImageError(.cancelled, "lie") }),
  ]
  for format in formats {
    for (name, result) in results {
      for features in [
        EncoderFeatures.none, [.animation, .alpha, .exif, .xmp, .displayP3], EncoderFeatures(rawValue: 255),
      ] {
        for number in 0..<6 {
          let encoder = LyingEncoder(format: format, features: features, result: result)
          let encoding = ImageEncoding(format, LyingEncoder.Options(number))
          let label = "encoder, \(format.name), \(name), \(features.rawValue), \(number)"
          all.append(
            Case(label) {
              let data = try EncoderRegistry([encoder]).encode(try Bitmap(decoding: picture), as: encoding)
              return "\(data.count) bytes"
            }
          )
          all.append(
            Case("\(label), pipeline") {
              let cache = try DiskLike.temporary()
              let pipeline = pipeline(pictures) { ($0.encoders, $0.diskCache) = (EncoderRegistry([encoder]), cache) }
              var request = ImageRequest(url: address)
              request.size = .pixels(2, 2)
              let first = try await pipeline.encoded(for: request, as: encoding)
              await cache.flush()
              let second = try await pipeline.encoded(for: request, as: encoding)
              guard first.data == second.data else { throw Wrong(description: "another file from the cache") }
              return "\(first.data.count) bytes"
            }
          )
          all.append(
            Case("\(label), options of another's") {
              let data = try EncoderRegistry.standard.encode(
                try Bitmap(decoding: picture),
                as: ImageEncoding(.jpeg, LyingEncoder.Options(number)),
              )
              return "\(data.count) bytes"
            }
          )
        }
      }
    }
  }
  return all
}

let pictures = LyingLoader { request, sink in
  _ = sink.receive(HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], url: request.url))
  _ = sink.receive(picture)
  sink.finish(nil)
}
