import Foundation
import VitrineAVIF
import VitrineJXL

@testable import VitrineImaging

/// Small pictures of any pixels, encoded in any format with any options, and decoded again.
@Sendable
func encoding(_ data: Data) {
  var rest = Array(data.prefix(20_000))[...]
  func byte() -> UInt8 { rest.popFirst() ?? 0 }
  let (width, height, kind, format) = (Int(byte()) % 70 + 1, Int(byte()) % 40 + 1, byte(), byte())
  let choices = (0..<4).map { _ in Int(byte()) }
  let alpha: Bitmap.Alpha = [.opaque, .straight, .premultiplied][Int(kind) % 3]
  let pixels = Array(rest)
  let picture = Bitmap(
    width: width,
    height: height,
    alpha: alpha,
    colorSpace: kind & 128 == 0 ? .sRGB : .displayP3,
  ) { out in
    for index in out.indices {
      // What is too short repeats, so that there are pictures of few colours.
      let value = pixels.isEmpty ? UInt8(truncatingIfNeeded: index / 4) : pixels[index % pixels.count]
      out[index] = alpha == .opaque && index % 4 == 3 ? 255 : value
    }
    // Colours of premultiplied pixels are at most their coverage.
    if alpha == .premultiplied { for index in out.indices { out[index] = min(out[index], out[index | 3]) } }
  }
  var (encoding, isExact) = choice(format, choices)
  encoding.metadata = [.strip, .keep, .only(.copyright, .location)][choices[3] % 3]
  var image = ImageContainer(picture)
  if choices[3] & 64 != 0 {
    var metadata = ImageMetadata()
    (metadata.exif, metadata.xmp) = (Data(pixels.prefix(300)), Data(pixels.suffix(300)))
    image.metadata = metadata
  }
  guard let file = try? encoders.encode(image, as: encoding).data else { preconditionFailure("cannot be encoded") }
  guard let same = try? encoders.encode(image, as: encoding).data else { preconditionFailure("not twice") }
  precondition(file == same, "another file")
  var options = DecodeOptions()
  options.colorSpace = picture.colorSpace
  guard let back = try? decoders.decode(file, options).bitmap else { preconditionFailure("cannot be decoded") }
  precondition((back.width, back.height) == (width, height), "another size")
  guard isExact else { return }
  let (expected, found) = (flat(picture), flat(back))
  // Colours that the format brings into sRGB cannot come back.
  let isWide = picture.colorSpace == .displayP3 && encoding.format == .qoi
  precondition(isWide || expected == found, "other pixels")
}

/// The pixels, without colours where there is no coverage.
private func flat(_ bitmap: Bitmap) -> [UInt8] {
  let straight = bitmap.straightened()
  var bytes = straight.withUnsafeBytes { Array($0) }
  for index in stride(from: 0, to: bytes.count, by: 4) where bytes[index + 3] == 0 {
    for component in 0..<3 { bytes[index + component] = 0 }
  }
  return bytes
}

private let encoders: EncoderRegistry = {
  var encoders = EncoderRegistry.standard
  encoders.add(.avif)
  encoders.add(.jxl)
  return encoders
}()

private let decoders: DecoderRegistry = {
  var decoders = DecoderRegistry.standard
  decoders.add(.avif)
  decoders.add(.jxl)
  return decoders
}()

private func choice(_ format: UInt8, _ numbers: [Int]) -> (ImageEncoding, isExact: Bool) {
  let quality = numbers[0] % 100 + 1
  switch format % 16 {
  case 0, 1, 2, 3: return (.png(), true)
  case 4: return (.png(.smallest), true)
  case 5, 6, 7:
    let subsampling = ImageEncoding.Subsampling.allCases[numbers[1] % 3]
    return (.jpeg(quality: quality, subsampling: subsampling, isProgressive: numbers[2] % 2 == 0), false)
  case 8: return (.webp(quality: quality, effort: numbers[1] % 7), false)
  case 9: return (.webp(isLossless: true, effort: numbers[1] % 7), true)
  case 10, 11, 12:
    let dithering = ImageEncoding.Dithering.allCases[numbers[1] % 3]
    return (.gif(colorCount: numbers[0] + 1, dithering: numbers[2] % 4 == 0 ? nil : dithering), false)
  case 13: return (.qoi(), true)
  case 14:
    let isLossless = numbers[1] % 2 == 0
    return (ImageEncoding(.avif, quality: quality, isLossless: isLossless), isLossless)
  default:
    let isLossless = numbers[1] % 2 == 0
    return (ImageEncoding(.jxl, quality: quality, isLossless: isLossless), isLossless)
  }
}

/// Metadata of any bytes, written by every policy.
@Sendable
func metadataWriting(_ data: Data) {
  let half = data.count / 2
  var metadata = ImageMetadata()
  metadata.exif = Data(data.prefix(half))
  metadata.xmp = Data(data.dropFirst(half))
  let kept = MetadataPolicy.keep.written(metadata, width: 30, height: 20)
  if let exif = kept.exif {
    let fields = EXIFFields(exif)
    precondition(fields.orientation == nil || fields.orientation == .up, "turned")
  }
  if let xmp = kept.xmp {
    precondition(String(validating: xmp, as: UTF8.self) != nil, "no text")
  }
  for field in MetadataPolicy.Field.allCases {
    let written = MetadataPolicy.only(field).written(metadata, width: 30, height: 20)
    precondition(written.xmp == nil, "a packet")
    guard let exif = written.exif, field != .location else { continue }
    let fields = EXIFFields(exif)
    precondition(fields.latitude == nil && fields.longitude == nil && fields.altitude == nil, "a place")
  }
  precondition(MetadataPolicy.strip.written(metadata, width: 30, height: 20) == WrittenMetadata(), "not stripped")
}
