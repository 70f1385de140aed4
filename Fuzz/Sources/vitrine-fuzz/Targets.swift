import Foundation
import VitrineAVIF
import VitrineHEIF
import VitrineJXL
import VitrineSVG
import VitrineTIFF

// What is not public is what reads strangers' bytes first: the build enables testing.
@testable import VitrineImaging

typealias Target = @Sendable (Data) -> Void

let targets = otherTargets.merging(formatTargets) { $1 }

/// A target for each decoder but JPEG's, which has three.
private let formatTargets: [String: Target] = {
  let external: [any ImageDecoder] = [AVIFDecoder(), HEIFDecoder(), JXLDecoder(), TIFFDecoder(), SVGDecoder()]
  let builtIn = ImageFormat.builtIn.map { $0.decoder as any ImageDecoder }.filter { !($0 is JPEGDecoder) }
  return Dictionary(uniqueKeysWithValues: (builtIn + external).map { ($0.formats[0].name, decoding($0)) })
}()

private let otherTargets: [String: Target] = [
  "jpeg-own": jpegOwn,
  "jpeg-system": decoding(JPEGDecoder(ownDecoderMinimum: .max)),
  "incremental": incremental,
  "metadata": metadata,
  "profile": profile,
  "size": size,
  "frames": frames,
  "processing": processing,
  "hashes": hashes,
  "encoding": encoding,
  "metadata-writing": metadataWriting,
  "http": http,
  "headers": headers,
  "gain-map": gainMap,
  "disk": disk,
  "wire": wire,
]

/// Small, so that an input takes milliseconds; what they do not bound must not grow without them either.
func limits() -> DecodeLimits {
  var limits = DecodeLimits()
  limits.heldPixelCount = 100_000
  limits.pixelCount = 200_000
  limits.composedPixelCount = 300_000
  limits.outputByteCount = 8 << 20
  limits.frameCount = 1000
  return limits
}

/// Every way through a decoder: whole and shrunk, strict and lenient, the first frames and the last.
func decoding(_ decoder: some ImageDecoder) -> Target {
  let registry = DecoderRegistry([decoder])
  return { data in
    guard let info = try? registry.info(of: data, limits: limits()) else { return }
    decodePart(of: data, registry, info)
    for frame in Set([0, 1, info.frameCount - 1]) {
      for size in [nil, TargetSize.pixels(23, 23, .fill)] {
        decode(data, registry) { options in
          (options.frame, options.size) = (frame, size)
          options.acceptsPartial = frame == 0
        }
      }
    }
  }
}

func decodePart(of data: Data, _ registry: DecoderRegistry, _ info: ImageInfo) {
  var options = DecodeOptions(size: .pixels(9, 9))
  options.limits = limits()
  let (width, height) = (info.width / 2 + 1, info.height / 3 + 1)
  options.region = PixelRegion(x: info.width / 3, y: info.height / 2, width: width, height: height)
  _ = try? registry.decode(data, options)
}

func decode(
  _ data: Data,
  _ registry: DecoderRegistry,
  _ change: (inout DecodeOptions) -> Void,
) {
  var options = DecodeOptions()
  options.limits = limits()
  change(&options)
  guard let image = try? registry.decode(data, options) else { return }
  // Of a page, which may have another size than the first, and of a drawing, which may be enlarged.
  if image.info.isVector { options.size?.enlarges = true }
  let plan = try? SamplingPlan(options.size, width: image.info.width, height: image.info.height)
  precondition(image.bitmap.width == plan?.width && image.bitmap.height == plan?.height, "another size than planned")
  precondition(options.acceptsPartial || image.damage == nil, "damage that nobody asked for")
}

/// The decoder at an eighth, of images of any size, and the pictures of what has come of a progressive file.
@Sendable
func jpegOwn(_ data: Data) {
  let decoder = JPEGDecoder(ownDecoderMinimum: 0)
  let registry = DecoderRegistry([decoder])
  guard let info = try? registry.info(of: data, limits: limits()) else { return }
  for isPartial in [false, true] {
    decode(data, registry) { options in
      options.size = .pixels(Double(info.width) / 8, Double(info.height) / 8)
      options.quality = .fast
      options.acceptsPartial = isPartial
    }
  }
  data.withUnsafeBytes { bytes in
    let request = RowRequest(info: info, minimumScale: 1 / 8, limits: limits())
    guard let rows = decoder.openPreview(bytes, request)?.rows else { return }
    let line = UnsafeMutableRawBufferPointer.allocate(byteCount: rows.width * 4, alignment: 16)
    defer { line.deallocate() }
    while let count = try? rows.read(into: line, bytesPerRow: rows.width * 4, count: 1), count > 0 {}
  }
}

/// What is read without decoding; the input is a file of any format, and EXIF that stands alone.
@Sendable
func metadata(_ data: Data) {
  let registry = DecoderRegistry.standard
  _ = ImageFormat.sniff(data)
  _ = try? registry.info(of: data)
  _ = try? registry.metadata(of: data)
  _ = try? registry.frameDelays(of: data)
  _ = try? registry.embeddedThumbnail(of: data)
  _ = EXIFFields(data)
}

@Sendable
func profile(_ data: Data) {
  let profile = ColorProfile(data: data)
  _ = profile.name
  var info = ImageInfo(format: .png, storedWidth: 16, storedHeight: 16)
  info.colorProfile = profile
  for model in ColorModel.allCases {
    info.colorModel = model
    guard let transform = ColorTransform(info, rows: model, to: .sRGB) else { continue }
    var pixels = (0..<1024).map { UInt8(truncatingIfNeeded: $0 * 37) }
    pixels.withUnsafeMutableBytes { transform.apply(to: MutableElements($0)) }
  }
}

/// A file of any format that arrives in eight pieces, shown whole or as soon as its beginning is enough.
@Sendable
func incremental(_ data: Data) {
  for stopsEarly in [false, true] { incremental(data, stopsEarly: stopsEarly) }
}

private func incremental(_ data: Data, stopsEarly: Bool) {
  var options = DecodeOptions(size: .pixels(40, 40))
  options.limits = limits()
  var decoder = IncrementalDecoder(options: options)
  decoder.stopsEarly = stopsEarly
  let step = max(1, data.count / 8)
  for start in stride(from: 0, to: data.count, by: step) {
    guard (try? decoder.append(data.dropFirst(start).prefix(step))) != nil else { return }
    _ = try? decoder.preview()
  }
  _ = try? decoder.image()
}

/// Sizes asked for, of any bit pattern, of small pictures.
@Sendable
func size(_ data: Data) {
  guard data.count >= 20 else { return }
  func double(_ offset: Int) -> Double {
    data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Double.self) }
  }
  let mode = TargetSize.Mode.allCases[Int(data[16]) % TargetSize.Mode.allCases.count]
  let size = TargetSize.pixels(double(0), double(8), mode, enlarges: data[17] & 1 != 0)
  let (width, height) = (Int(data[18]) + 1, Int(data[19]) + 1)
  guard let plan = try? SamplingPlan(size, width: width, height: height) else { return }
  precondition(plan.width >= 1 && plan.height >= 1)
  guard plan.width * plan.height <= 100_000 else { return }
  let picture = Bitmap(width: width, height: height, alpha: data[17] & 2 != 0 ? .straight : .opaque) {
    $0.initializeMemory(as: UInt8.self, repeating: 0x5A)
  }
  guard let result = try? picture.resized(to: size) else { return }
  precondition(result.width == plan.width && result.height == plan.height)
}

/// Hashes of unknown origin, as bytes and as text.
@Sendable
func hashes(_ data: Data) {
  let text = String(decoding: data, as: UTF8.self)
  for hash in [try? ThumbHash(bytes: data), try? ThumbHash(base64: text)] {
    guard let hash else { continue }
    precondition(max(hash.bitmap.width, hash.bitmap.height) == 32 && hash.aspectRatio > 0)
    precondition((try? ThumbHash(base64: hash.base64)) == hash)
  }
  guard let hash = try? BlurHash(text) else { return }
  precondition((try? hash.bitmap(width: 7, height: 5)) != nil && hash.string == text)
}
