import Foundation
import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

private let sides = [Int.min, -1, 0, 1, 7, 9, 1 << 16, 1 << 31, 1 << 40, Int.max]
private let times = [-1, 0, 0.5, 1e9, 1e300, -Double.infinity, Double.infinity, Double.nan]
private let format = ImageFormat(name: "lie", mediaType: "image/x-lie", fileExtension: "lie")
private let file = Data("lie: a file of its own format, which nobody else knows".utf8)

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
      unsafe UnsafeMutableRawBufferPointer(start: rows.baseAddress! + index * bytesPerRow, count: 32)
        .initializeMemory(as: UInt8.self, repeating: 255)
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

private let origin = LyingLoader { request, sink in
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

// MARK: Encoders

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

private let pictures = LyingLoader { request, sink in
  _ = sink.receive(HTTPResponse(status: 200, headers: ["Cache-Control": "max-age=60"], url: request.url))
  _ = sink.receive(picture)
  sink.finish(nil)
}

// MARK: Processors and hooks

private func bitmap(_ width: Int, _ height: Int) -> Bitmap {
  Bitmap(width: width, height: height, alpha: .straight) { unsafe $0.initializeMemory(as: UInt8.self, repeating: 9) }
}

private let liar = Wrong(description: "of the program's own")

func processorCases() -> [Case] {
  let bodies: [(String, @Sendable (ImageContainer) throws -> ImageContainer)] = [
    ("tiny", { ImageContainer(bitmap(1, 1), info: $0.info) }),
    ("wide", { ImageContainer(bitmap(20_000, 1), info: $0.info) }),
    (
      "large",
      {
        var image = $0; image.bitmap = bitmap(4000, 4000); return image
      },
    ),
    ("throws", { _ in throw liar }), ("cancels", { _ in throw CancellationError() }),
    ("is cancelled", { _ in throw ImageError(.cancelled, "lie") }),
    (
      "preview",
      {
        var image = $0; image.isPreview = true; return image
      },
    ),
    (
      "damaged",
      {
        var image = $0; image.damage = ImageError(.truncated, "lie"); return image
      },
    ),
    (
      "info",
      {
        var image = $0; image.info = ImageInfo(format: format, storedWidth: .min, storedHeight: .max); return image
      },
    ),
    (
      "frames",
      {
        var image = $0; image.info.frameCount = .max; image.info.duration = .nan; return image
      },
    ),
    (
      "encoded",
      {
        var image = $0; image.encodedData = Data(count: 100); return image
      },
    ),
    (
      "metadata",
      {
        var image = $0; image.metadata = ImageMetadata(); return image
      },
    ),
    ("itself", { ImageContainer($0.bitmap) }),
    (
      "animation",
      {
        var image = $0
        var decoder = LyingDecoder(delays: [.nan, -1])
        decoder.info = { () throws(ImageError) in
          var info = ImageInfo(format: format, storedWidth: 8, storedHeight: 8)
          (info.frameCount, info.duration) = (2, 1)
          return info
        }
        image.animation = try AnimatedImage(file, decoders: DecoderRegistry([decoder]))
        return image
      },
    ),
  ]
  var all: [Case] = []
  for (name, body) in bodies {
    for id in ["a", "", "a > b", "\0", "ü\n", String(repeating: "long", count: 100_000)] {
      for previews in [true, false] {
        let processor = ImageProcessor.customContainer(id: id, processesPreviews: previews, body)
        all.append(
          Case("processor, \(name), id of \(id.utf8.count), \(previews)") {
            let cache = try DiskLike.temporary()
            let pipeline = pipeline(pictures) { ($0.diskCache, $0.storagePolicy) = (cache, .both) }
            var request = ImageRequest(url: address)
            request.processors = [processor, .blur(radius: 2), processor]
            let image = try await pipeline.image(for: request)
            await cache.flush()
            pipeline.configuration.memoryCache?.removeAll()
            let again = try await pipeline.image(for: request)
            _ = try await pipeline.encoded(for: request, as: .automatic())
            guard image.width == again.width else { throw Wrong(description: "\(again.width) and \(image.width)") }
            return "\(image.width)x\(image.height)"
          }
        )
      }
    }
  }
  for number in times {
    let steps: [ImageProcessor] = [
      .blur(radius: .pixels(number)), .roundedCorners(radius: .pixels(number)),
    ]
    for (index, step) in steps.enumerated() {
      all.append(
        Case("processor \(index) of \(number)") {
          let image = try step.process(ImageContainer(bitmap(9, 9)))
          return "\(image.bitmap.width)"
        }
      )
    }
  }
  for width in sides {
    for height in [1, Int.max, 0, -1] {
      for mode in [TargetSize.Mode.fit, .fill, .exact] {
        all.append(
          Case("size \(width)x\(height) \(mode)") {
            let image = try ImageProcessor.resize(.pixels(Double(width), Double(height), mode, enlarges: true)).process(
              ImageContainer(bitmap(9, 9))
            )
            return "\(image.bitmap.width)x\(image.bitmap.height)"
          }
        )
        all.append(
          Case("decode at \(width)x\(height) \(mode)") {
            var options = DecodeOptions()
            options.size = .pixels(Double(width), Double(height), mode, enlarges: true)
            let image = try DecoderRegistry.standard.decode(picture, options)
            return "\(image.bitmap.width)x\(image.bitmap.height)"
          }
        )
      }
      all.append(
        Case("region at \(width), \(height)") {
          var options = DecodeOptions()
          options.region = PixelRegion(x: width, y: height, width: width, height: height)
          let image = try DecoderRegistry.standard.decode(picture, options)
          return "\(image.bitmap.width)x\(image.bitmap.height)"
        }
      )
      all.append(
        Case("limits of \(width), \(height)") {
          var options = DecodeOptions()
          (options.limits.pixelCount, options.limits.memoryByteCount, options.frame) = (width, height, width)
          return "\(try DecoderRegistry.standard.decode(picture, options).bitmap.width)"
        }
      )
    }
  }
  return all
}

/// A hook for all places that have one.
private struct LyingHook: ImageInterceptor, PipelineDelegate, PipelineObserver {
  var answer: @Sendable (ImageRequest, InterceptorChain) async throws -> ImageResponse = { try await $1($0) }
  var rewrite: @Sendable (ImageRequest) -> ImageRequest = { $0 }
  var registry: DecoderRegistry?
  var stored: @Sendable (Data) -> Data? = { $0 }
  var keeps = true

  func image(for request: ImageRequest, next: InterceptorChain) async throws -> ImageResponse {
    try await answer(request, next)
  }
  func willLoad(_ request: ImageRequest) -> ImageRequest { rewrite(request) }
  func decoders(for request: ImageRequest, firstBytes: Data) -> DecoderRegistry? { registry }
  func willStore(_ data: Data, for request: ImageRequest, response: HTTPResponse) -> Data? { stored(data) }
  func keepsFinished(_ image: ImageResponse, for request: ImageRequest) -> Bool { keeps }
  func keepsEncoded(_ image: EncodedImage, for request: ImageRequest) -> Bool { keeps }
}

func hookCases() -> [Case] {
  let escaped = Box()
  let hooks: [(String, LyingHook)] = [
    (
      "another size",
      LyingHook(answer: { _, _ in ImageResponse(bitmap(1, 20_000), from: .network, status: -1, byteCount: .min) }),
    ),
    ("throws", LyingHook(answer: { _, _ in throw liar })),
    ("cancels", LyingHook(answer: { _, _ in throw CancellationError() })),
    (
      "twice",
      LyingHook(answer: {
        _ = try await $1($0); return try await $1($0)
      }),
    ),
    (
      "at once",
      LyingHook(answer: { request, next in
        try await withThrowingTaskGroup(of: ImageResponse.self) { group in
          for _ in 0..<50 { group.addTask { try await next(request) } }
          for try await response in group { return response }
          throw liar
        }
      }),
    ),
    (
      "late",
      LyingHook(answer: { request, next in
        let old = escaped.chain
        escaped.chain = next
        return try await (old ?? next)(request)
      }),
    ),
    ("deep", LyingHook(answer: { request, _ in ImageResponse(try await ImagePipeline.deep.image(for: request)) })),
    ("rewrites to nothing", LyingHook(rewrite: { _ in ImageRequest(url: URL(string: "about:blank")!) })),
    (
      "rewrites each time",
      LyingHook(rewrite: { request in
        var request = request
        request.source = .url(URL(string: "http://picture.invalid/\(UInt64.random(in: 0 ... .max))")!)
        return request
      }),
    ),
    ("no decoders", LyingHook(registry: DecoderRegistry([]))),
    (
      "a lying decoder",
      LyingHook(
        registry: DecoderRegistry([
          LyingDecoder(
            formats: [.png],
            rows: { () throws(ImageError) in
              let rows = LyingRows()
              rows.width = 1 << 20
              return rows
            },
          )
        ])
      ),
    ),
    ("stores nothing", LyingHook(stored: { _ in nil })), ("stores no bytes", LyingHook(stored: { _ in Data() })),
    ("stores noise", LyingHook(stored: { _ in file })), ("stores half", LyingHook(stored: { $0.prefix(30) })),
    ("stores megabytes", LyingHook(stored: { $0 + Data(count: 1 << 25) })), ("keeps nothing", LyingHook(keeps: false)),
  ]
  return hooks.flatMap { name, hook in
    [
      Case("interceptor, \(name)") { try await show(hook) { $0.interceptors = [hook] } },
      Case("delegate, \(name)") { try await show(hook) { $0.delegate = hook } },
      Case("observer, \(name)") { try await show(hook) { $0.observer = hook } },
    ]
  }
}

private final class Box: @unchecked Sendable {
  // @unchecked: one case at a time.
  var chain: InterceptorChain?
}

extension ImagePipeline {
  fileprivate static let deep: ImagePipeline = pipeline(pictures) {
    $0.interceptors = [
      LyingHook(answer: { request, _ in ImageResponse(try await ImagePipeline.deep.image(for: request)) })
    ]
  }
}

private func show(_ hook: LyingHook, _ change: (inout ImagePipeline.Configuration) -> Void) async throws -> String {
  let cache = try DiskLike.temporary()
  let pipeline = pipeline(pictures) {
    ($0.diskCache, $0.storagePolicy) = (cache, .both)
    change(&$0)
  }
  var request = ImageRequest(url: address)
  request.size = .pixels(2, 2)
  let image = try await pipeline.image(for: request)
  await cache.flush()
  pipeline.configuration.memoryCache?.removeAll()
  _ = try await pipeline.image(for: request)
  _ = try? await pipeline.data(for: request)
  _ = try? await pipeline.encoded(for: request, as: .png())
  _ = pipeline.cachedImage(for: request)
  return "\(image.width)x\(image.height)"
}

// MARK: Clocks

/// A number that grows.
private final class Counter: @unchecked Sendable {
  // @unchecked: behind the lock.
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}

/// A clock that jumps.
private final class LyingClock: TimeSource {
  let dates: [Double]
  let uptimes: [Duration]
  let calls: Int
  private let asked = Counter()

  init(_ dates: [Double], _ uptimes: [Duration], calls: Int = 1) {
    (self.dates, self.uptimes, self.calls) = (dates, uptimes, calls)
  }

  private func next() -> Int { asked.next() }
  var now: Date { Date(timeIntervalSince1970: dates[next() % dates.count]) }
  var uptime: Duration { uptimes[next() % uptimes.count] }
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    for _ in 0..<calls { DispatchQueue.global().async(execute: action) }
    return ScheduledAction { true }
  }
}

func clockCases() -> [Case] {
  let dates: [[Double]] = [[.nan], [.infinity], [-.infinity], [1e300, -1e300], [0], [1e12, 0, -1e12], [9.3e9]]
  let uptimes: [[Duration]] = [
    [.zero], [.seconds(Int64.max), .seconds(Int64.min)], [.seconds(5), .zero, .seconds(-5)], [.seconds(1 << 40)],
  ]
  var all: [Case] = []
  for (index, dates) in dates.enumerated() {
    for (other, uptimes) in uptimes.enumerated() {
      for calls in [1, 3] {
        let name = "clock, date \(index), uptime \(other), \(calls) calls"
        all.append(
          Case(name) {
            let clock = LyingClock(dates, uptimes, calls: calls)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
              "lies.\(UInt64.random(in: 0 ... .max))"
            )
            let cache = try DiskCache(directory: folder, sizeLimit: 1 << 20, lifetime: .seconds(60), clock: clock)
            let pipeline = pipeline(pictures) {
              ($0.clock, $0.diskCache, $0.storagePolicy) = (clock, cache, .both)
              $0.memoryCache = MemoryCache(costLimit: 1 << 20, expiration: .after(.seconds(5)), clock: clock)
              $0.rateLimit = RateLimit(requestsPerSecond: 1000, burst: 3)
              $0.remembersFailures = true
            }
            _ = try await pipeline.image(for: address)
            await cache.flush()
            return try checked(await pipeline.image(for: address))
          }
        )
        all.append(
          Case("\(name), failing") {
            let clock = LyingClock(dates, uptimes, calls: calls)
            let broken = LyingLoader { request, sink in
              _ = sink.receive(HTTPResponse(status: 503, headers: ["Retry-After": "1"], url: request.url))
              sink.finish(nil)
            }
            let pipeline = pipeline(broken) { ($0.clock, $0.remembersFailures) = (clock, true) }
            _ = try? await pipeline.image(for: address)
            return try checked(await pipeline.image(for: address))
          }
        )
        all.append(
          Case("\(name), tiers") {
            let clock = LyingClock(dates, uptimes, calls: calls)
            let tiers = TieredDataCache([.remote(LyingCache(error: LyingCache.Failure()))], clock: clock)
            let pipeline = pipeline(pictures) { ($0.clock, $0.diskCache) = (clock, tiers) }
            for _ in 0..<10 { _ = try await pipeline.image(for: address) }
            return try checked(await pipeline.image(for: address))
          }
        )
      }
    }
  }
  return all
}
