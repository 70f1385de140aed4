import Foundation
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTiles

let sides = [Int.min, -1, 0, 1, 7, 9, 1 << 16, 1 << 31, 1 << 40, Int.max]
let times = [-1, 0, 0.5, 1e9, 1e300, -Double.infinity, Double.infinity, Double.nan]
let format = ImageFormat(name: "lie", mediaType: "image/x-lie", fileExtension: "lie")
let file = Data("lie: a file of its own format, which nobody else knows".utf8)

/// Rows of 8x8 pixels that say of themselves what they like.
final class LyingRows: RowSource {
  var width = 8, height = 8
  var extentWidth = 8.0, extentHeight = 8.0
  var origin = (x: 0, y: 0)
  var hasAlpha = false
  var colorModel = ColorModel.rgb
  var isAveraged = false
  var colorSpace: ColorSpace?
  var isUpright = false
  var damage: ImageError?
  var got: (Int) -> Int = { $0 }
  var error: ImageError?
  private var row = 0

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    if let error { throw error }
    let most = max(0, min(count, 8 - row))
    for index in 0..<most {
      // Eight pixels, for which there is room.
      let row = unsafe UnsafeMutableRawBufferPointer(rebasing: rows[index * bytesPerRow..<index * bytesPerRow + 32])
      unsafe row.initializeMemory(as: UInt8.self, repeating: 255)
    }
    row += most
    return got(most)
  }
}

struct LyingDecoder: ImageDecoder {
  var formats = [format]
  var recognized: ImageFormat? = format
  var info: @Sendable () throws(ImageError) -> ImageInfo? = { () throws(ImageError) in
    ImageInfo(format: format, storedWidth: 8, storedHeight: 8)
  }
  var frame: (@Sendable () -> ImageInfo)?
  var delays: [Double]?
  var facts = ImageMetadata()
  var rows: @Sendable () throws(ImageError) -> (any RowSource)? = { () throws(ImageError) in LyingRows() }

  func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? { recognized }
  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    try info()
  }
  func info(
    ofFrame index: Int,
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError)
    -> ImageInfo
  { frame?() ?? info }
  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    try rows()
  }
  func frameDelays(of bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> [Double] {
    delays ?? [Double](repeating: 0.1, count: min(max(0, info.frameCount), 100))
  }
  func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata {
    facts
  }
}

let origin = LyingLoader { request, sink in
  _ = sink.receive(HTTPResponse(status: 200, url: request.url))
  _ = sink.receive(file)
  sink.finish(nil)
}

/// Every way in which a decoder's rows become pixels.
private func ways(_ name: String, _ decoder: LyingDecoder) -> [Case] {
  let registry = DecoderRegistry([decoder])
  var all: [Case] = []
  let changes: [(String, @Sendable (inout DecodeOptions) -> Void)] = [
    ("whole", { _ in }), ("small", { $0.size = .pixels(3, 3, .exact) }),
    ("filled", { $0.size = .pixels(3, 5, .fill) }),
    ("large", { $0.size = .pixels(20, 20, .exact, enlarges: true) }),
    ("part", { $0.region = PixelRegion(x: 2, y: 3, width: 4, height: 4) }),
    ("partial", { $0.acceptsPartial = true }), ("animated", { $0.animates = true }), ("frame 1", { $0.frame = 1 }),
    ("in another colour space", { $0.colorSpace = .displayP3 }),
    ("linear", { ($0.usesLinearLight, $0.size) = (true, .pixels(3)) }),
  ]
  for (way, change) in changes {
    all.append(
      Case("\(name), \(way)") {
        var options = DecodeOptions()
        change(&options)
        let image = try registry.decode(file, options)
        return "\(image.bitmap.width)x\(image.bitmap.height)"
      }
    )
  }
  all.append(
    Case("\(name), metadata") {
      let metadata = try registry.metadata(of: file)
      return "\(metadata.colorProfile?.data.count ?? 0) bytes of a profile"
    }
  )
  all.append(
    Case("\(name), frames") {
      var count = 0
      var source = try FrameSource(file, DecodeOptions(), decoders: registry)
      while count < 5, let frame = try source.next() { count += frame.bitmap.width > 0 ? 1 : 0 }
      return "\(count) frames"
    }
  )
  all.append(
    Case("\(name), player") {
      let animation = try AnimatedImage(file, decoders: registry)
      for index in [0, 1, min(max(0, animation.frameCount - 1), 1_000_000)] { _ = try await animation.frame(at: index) }
      let player = AnimationPlayer(animation)
      player.play()
      for second in [0, 1, 3, 1000, 1 << 40] { _ = player.advance(to: .seconds(second)) }
      _ = player.timeToNextFrame
      return "\(animation.delays.count) delays"
    }
  )
  all.append(
    Case("\(name), pipeline") {
      let pipeline = pipeline(origin) { ($0.decoders, $0.diskCache) = (registry, nil) }
      var request = ImageRequest(url: address)
      request.size = .pixels(5, 5)
      let image = try await pipeline.image(for: request)
      _ = try await pipeline.encoded(for: request, as: .png())
      return "\(image.width)x\(image.height)"
    }
  )
  all.append(
    Case("\(name), tiles") {
      let pipeline = pipeline(origin) { ($0.decoders, $0.diskCache) = (registry, nil) }
      let tiled = try await pipeline.tiledImage(for: address)
      return "\(tiled.size(ofLevel: 0))"
    }
  )
  return all
}

func decoderCases() -> [Case] {
  var all = ways("decoder, true", LyingDecoder())
  for width in sides {
    for height in sides {
      all += ways(
        "decoder, \(width)x\(height)",
        LyingDecoder(info: { () throws(ImageError) in
          ImageInfo(format: format, storedWidth: width, storedHeight: height)
        }),
      )
    }
    all += ways(
      "decoder, frame of \(width)",
      LyingDecoder(frame: {
        ImageInfo(format: format, storedWidth: width, storedHeight: 8)
      }),
    )
    for set: @Sendable (inout ImageInfo, Int) -> Void in [
      { $0.frameCount = $1 }, { $0.loopCount = $1 }, { $0.bitsPerComponent = $1 }, { $0.workingByteCount = $1 },
      { ($0.frameCount, $0.duration) = (3, Double($1)) },
    ] {
      all += ways(
        "decoder, \(width) of something",
        LyingDecoder(info: { () throws(ImageError) in
          var info = ImageInfo(format: format, storedWidth: 8, storedHeight: 8)
          set(&info, width)
          return info
        }),
      )
    }
  }
  for time in times {
    for count in [0, 1, 2, 3, 1000] {
      all += ways(
        "decoder, \(count) delays of \(time)",
        LyingDecoder(
          info: { () throws(ImageError) in
            var info = ImageInfo(format: format, storedWidth: 8, storedHeight: 8)
            (info.frameCount, info.duration) = (3, 1)
            return info
          },
          delays: [Double](repeating: time, count: count),
        ),
      )
    }
  }
  for other in [ImageFormat.jpeg, .svg, .gif, ImageFormat(name: "", mediaType: "\r\nX: y", fileExtension: "../../x")] {
    all += ways("decoder, says \(other.name)", LyingDecoder(recognized: other))
    all += ways(
      "decoder, has \(other.name)",
      LyingDecoder(info: { () throws(ImageError) in
        ImageInfo(format: other, storedWidth: 8, storedHeight: 8)
      }),
    )
    all += ways("decoder, all of \(other.name)", LyingDecoder(formats: [other], recognized: other))
  }
  all += ways("decoder, of no format", LyingDecoder(formats: [], recognized: nil))
  all += ways("decoder, declines", LyingDecoder(info: { () throws(ImageError) in nil }))
  all += ways("decoder, opens nothing", LyingDecoder(rows: { () throws(ImageError) in nil }))
  for bytes in [Data(), Data(count: 3), Data(repeating: 255, count: 200), Data(count: 1 << 20)] {
    all += ways(
      "decoder, a profile of \(bytes.count)",
      LyingDecoder(info: { () throws(ImageError) in
        var info = ImageInfo(format: format, storedWidth: 8, storedHeight: 8)
        info.colorProfile = ColorProfile(data: bytes)
        return info
      }),
    )
  }
  for model in [ColorModel.rgb, .cmyk, .gray] {
    for isVector in [false, true] {
      for orientation in Orientation.allCases {
        all += ways(
          "decoder, \(model), \(isVector), \(orientation)",
          LyingDecoder(info: { () throws(ImageError) in
            var info = ImageInfo(format: format, storedWidth: 8, storedHeight: 8, orientation: orientation)
            (info.colorModel, info.isVector) = (model, isVector)
            return info
          }),
        )
      }
    }
  }
  return all
}

func rowCases() -> [Case] {
  var all: [Case] = []
  func add(_ name: String, _ change: @escaping @Sendable (LyingRows) -> Void) {
    all += ways(
      "rows, \(name)",
      LyingDecoder(rows: { () throws(ImageError) in
        let rows = LyingRows()
        change(rows)
        return rows
      }),
    )
  }
  for side in sides {
    add("width \(side)") { $0.width = side }
    add("height \(side)") { $0.height = side }
    add("x \(side)") { $0.origin.x = side }
    add("y \(side)") { $0.origin.y = side }
    add("got \(side)") { $0.got = { _ in side } }
    add("got \(side) more") { $0.got = { $0.addingReportingOverflow(side).partialValue } }
  }
  for time in times {
    add("extent \(time) wide") { $0.extentWidth = time }
    add("extent \(time) high") { $0.extentHeight = time }
  }
  for model in [ColorModel.rgb, .cmyk, .gray] {
    add("in \(model)") { $0.colorModel = model }
    add("in \(model), upright") {
      ($0.colorModel, $0.isUpright, $0.hasAlpha, $0.isAveraged) = (model, true, true, true)
    }
  }
  for code in [ImageError.Code.cancelled, .overLimit, .truncated, .noSuchFrame, .notEncodable] {
    add("throw \(code)") { $0.error = ImageError(code, "lie") }
    add("damaged by \(code)") { $0.damage = ImageError(code, "lie") }
  }
  return all
}
