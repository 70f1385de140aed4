package import VitrineImaging
import VitrineRuntime

/// Serves the requests of a program to its codec process, until the program closes the socket.
@safe
package final class CodecService {
  private let decoders: [any ImageDecoder]
  private let wire: Wire
  // Owned: replaced with every image, after the source that reads it.
  private var image = UnsafeMutableRawBufferPointer.allocate(byteCount: 0, alignment: 16)
  private var source: (any RowSource)?

  package init(_ decoders: [any ImageDecoder], on socket: Int32) {
    self.decoders = decoders
    wire = Wire(socket)
  }

  deinit {
    source = nil
    unsafe image.deallocate()
  }

  package func run() {
    do {
      while true {
        var request = try wire.receive()
        switch Operation(rawValue: try request.integer("operation")) {
        case .info: try answer(request, with: info)
        case .frameInfo: try answer(request, with: frameInfo)
        case .open: try answer(request, with: open)
        case .read:
          let count = try request.integer("number of rows", in: 1...1 << 20)
          try request.end()
          try read(count: count)
        case nil: return
        }
      }
    } catch {
      // The program has ended, needs no more, or is not the one that this process serves.
    }
  }

  private typealias Work = (DecodeRequest) throws(ImageError) -> Message

  private func answer(_ message: Message, with work: Work) throws {
    var message = message
    let request = try DecodeRequest(&message)
    try message.end()
    source = nil
    unsafe image.deallocate()
    unsafe image = .allocate(byteCount: request.byteCount, alignment: 16)
    try unsafe wire.receive(into: image)
    var answer = Message()
    do throws(ImageError) {
      let content = try work(request)
      answer.add(Answer.done.rawValue)
      answer.add(content.bytes)
    } catch {
      answer = Self.failure(error)
    }
    try wire.send(answer)
  }

  private static func failure(_ error: ImageError) -> Message {
    var answer = Message()
    answer.add(Answer.failed.rawValue)
    answer.add(error)
    return answer
  }

  private func find(_ request: DecodeRequest) throws(ImageError) -> (decoder: any ImageDecoder, info: ImageInfo) {
    let format = request.format
    for decoder in decoders where decoder.formats.contains(format) {
      // The image stays in place until the next one arrives.
      let bytes = unsafe UnsafeRawBufferPointer(image)
      guard let header = try unsafe decoder.info(of: bytes, format: format, limits: request.limits) else { continue }
      guard request.frame > 0 else { return (decoder, header) }
      return (decoder, try unsafe decoder.info(ofFrame: request.frame, of: bytes, header, limits: request.limits))
    }
    throw ImageError(.unsupported, format: format, "\(format) images cannot be decoded by this build")
  }

  private func info(_ request: DecodeRequest) throws(ImageError) -> Message {
    var request = request
    request.frame = 0
    return try frameInfo(request)
  }

  private func frameInfo(_ request: DecodeRequest) throws(ImageError) -> Message {
    var answer = Message()
    answer.add(try find(request).info)
    return answer
  }

  private func open(_ request: DecodeRequest) throws(ImageError) -> Message {
    let (decoder, info) = try find(request)
    let rows = RowRequest(
      info: info,
      frame: request.frame,
      minimumScale: request.minimumScale,
      scales: request.scales,
      limits: request.limits,
      control: DecodeControl(isCancelled: nil, timeLimit: nil),
    )
    // As in `find`. The program adds its own bytes to these.
    let memory = try unsafe decoder.memory(of: UnsafeRawBufferPointer(image), rows)
    try request.limits.check(memory: memory.codec.addingSaturating(memory.rows), of: info)
    guard let source = try unsafe decoder.open(UnsafeRawBufferPointer(image), rows) else {
      throw ImageError(.unsupported, format: info.format, "\(info.format) images cannot be decoded by this build")
    }
    self.source = source
    var answer = Message()
    answer.add(source.width)
    answer.add(source.height)
    answer.add(source.extentWidth)
    answer.add(source.extentHeight)
    answer.add(source.hasAlpha)
    return answer
  }

  private func read(count: Int) throws(Wire.Ended) {
    guard let source else { throw Wire.Ended() }
    let bytesPerRow = source.width * 4
    let rows = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesPerRow * count, alignment: 64)
    defer { unsafe rows.deallocate() }
    let got: Int
    do throws(ImageError) {
      got = try unsafe source.read(into: rows, bytesPerRow: bytesPerRow, count: count)
    } catch {
      return try wire.send(Self.failure(error))
    }
    var answer = Message()
    answer.add(Answer.done.rawValue)
    answer.add(got)
    answer.add(source.damage != nil)
    if let damage = source.damage { answer.add(damage) }
    try wire.send(answer)
    // `got` rows, at most `count` of them, were written.
    try unsafe wire.send(UnsafeRawBufferPointer(rebasing: rows[..<(got * bytesPerRow)]))
  }
}

/// A request for an image, without the image's bytes.
struct DecodeRequest {
  var format: ImageFormat
  var limits: DecodeLimits
  var frame: Int
  var minimumScale: Double
  var scales: (x: Double, y: Double)
  var byteCount: Int

  init(_ message: inout Message) throws(Malformed) {
    format = ImageFormat(
      name: try message.text("format"),
      mediaType: try message.text("media type"),
      fileExtension: try message.text("file extension"),
    )
    limits = try message.limits()
    frame = try message.integer("frame", in: 0 ... .max)
    minimumScale = try message.double("scale", in: 0...1)
    scales = (try message.double("scale across", in: 0...1e9), try message.double("scale down", in: 0...1e9))
    byteCount = try message.integer("number of bytes", in: 0...1 << 40)
  }

  init(format: ImageFormat, limits: DecodeLimits, frame: Int = 0, byteCount: Int) {
    (self.format, self.limits, self.frame, self.byteCount) = (format, limits, frame, byteCount)
    (minimumScale, scales) = (1, (1, 1))
  }

  func message(_ operation: Operation) -> Message {
    var message = Message()
    message.add(operation.rawValue)
    message.add(format.name)
    message.add(format.mediaType)
    message.add(format.fileExtension)
    message.add(limits)
    message.add(frame)
    message.add(minimumScale)
    message.add(scales.x)
    message.add(scales.y)
    message.add(byteCount)
    return message
  }
}
