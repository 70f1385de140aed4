package import VitrineImaging
package import VitrineRuntime

/// Decodes images in other processes, which start with the first image and serve one image after another.
///
/// A program that rarely decodes heavy formats does not pay for their libraries at its start. A library that crashes
/// or hangs affects only its image. Cancellation takes effect at any moment.
package final class ProcessDecoder: ImageDecoder, VitrineDecoder {
  package let formats: [ImageFormat]
  private let path: ByteString
  /// The processes without work.
  private let idle = Lock<[CodecProcess.Kind: [CodecProcess]]>([:])

  /// Returns `nil` if there is no program at `path`.
  package init?(_ path: ByteString, formats: [ImageFormat]) {
    guard unsafe path.withCString({ unsafe access($0, X_OK) }) == 0 else { return nil }
    (self.path, self.formats) = (path, formats)
  }

  package convenience init?(_ path: String, formats: [ImageFormat]) {
    self.init(ByteString(path), formats: formats)
  }

  package func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let request = DecodeRequest(format: format, limits: limits, byteCount: bytes.count)
    return try unsafe header(.info, request, bytes)
  }

  package func info(
    ofFrame frame: Int,
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo {
    guard frame > 0 else { return info }
    let request = DecodeRequest(format: info.format, limits: limits, frame: frame, byteCount: bytes.count)
    return try unsafe header(.frameInfo, request, bytes)
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    var memory = DecodeMemory(request.info)
    // libheif holds the coded planes until the colours are converted.
    if request.info.format == .heic {
      memory.transient = memory.codec.multipliedSaturating(by: request.info.bitsPerComponent > 8 ? 2 : 1)
    }
    // The process draws the whole picture before it sends the first row.
    if request.info.isVector { memory.codec = memory.codec.addingSaturating(request.drawnByteCount) }
    return memory
  }

  package func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    var question = DecodeRequest(
      format: request.info.format,
      limits: request.limits,
      frame: request.frame,
      byteCount: bytes.count,
    )
    question.minimumScale = request.minimumScale
    question.scales = request.scales
    let process = try process(request.info.format)
    let session = CodecSession(process, request.info.format, request.control)
    let content = try unsafe session.ask(question.message(.open), bytes) { (answer) throws(Malformed) in
      try ProcessRows.Content(answer.content("rows"), side: request.limits.side)
    }
    return ProcessRows(session, content) { [self] in giveBack(process) }
  }

  private func header(
    _ operation: Operation,
    _ request: DecodeRequest,
    _ bytes: UnsafeRawBufferPointer,
  ) throws(ImageError) -> ImageInfo {
    let process = try process(request.format)
    let control = DecodeControl(isCancelled: nil, timeLimit: request.limits.timeLimit)
    let session = CodecSession(process, request.format, control)
    do throws(ImageError) {
      let info = try unsafe session.ask(request.message(operation), bytes) { (answer) throws(Malformed) in
        var content = Message(bytes: try answer.content("header"))
        let info = try content.info(of: request.format)
        try content.end()
        return info
      }
      giveBack(process)
      return info
    } catch {
      if session.isAlive { giveBack(process) }
      throw error
    }
  }

  private func giveBack(_ process: CodecProcess) {
    idle.withLock { $0[process.kind, default: []].append(process) }
  }

  private func process(_ format: ImageFormat) throws(ImageError) -> CodecProcess {
    let kind = CodecProcess.Kind(format)
    if let process = idle.withLock({ $0[kind]?.popLast() }) { return process }
    guard let process = CodecProcess(path, kind) else {
      throw ImageError(.unsupported, format: format, "the program that decodes \(format) images cannot be started")
    }
    return process
  }
}

/// The requests and answers for one image.
final class CodecSession {
  private let process: CodecProcess
  let format: ImageFormat
  private let control: DecodeControl
  /// True if the process is ready for the next request.
  private(set) var isAlive = true

  init(_ process: CodecProcess, _ format: ImageFormat, _ control: DecodeControl) {
    (self.process, self.format, self.control) = (process, format, control)
  }

  /// Sends a request, waits for the answer as long as `control` allows, and reads it.
  func ask<Value>(
    _ question: Message,
    _ bytes: UnsafeRawBufferPointer? = nil,
    read: (inout Message) throws(Malformed) -> Value,
  ) throws(ImageError) -> Value {
    isAlive = false
    var answer: Message
    do throws(Wire.Ended) {
      try process.wire.send(question)
      if let bytes = unsafe bytes { try unsafe process.wire.send(bytes) }
    } catch {
      throw ended
    }
    while !process.wire.hasAnswer(within: 50) { try control.check() }
    do throws(Wire.Ended) {
      answer = try process.wire.receive()
    } catch {
      throw ended
    }
    let result: Result<Value, ImageError>
    do throws(Malformed) {
      let isDone = Answer(rawValue: try answer.integer("kind of answer", in: 0...1)) == .done
      result = isDone ? .success(try read(&answer)) : .failure(try answer.error(format))
      try answer.end()
    } catch {
      throw impossible(error.field)
    }
    isAlive = true
    return try result.get()
  }

  func receive(into rows: UnsafeMutableRawBufferPointer) throws(ImageError) {
    isAlive = false
    do throws(Wire.Ended) {
      try unsafe process.wire.receive(into: rows)
    } catch {
      throw ended
    }
    isAlive = true
  }

  /// Returns the error of an answer that no decoder gives; the process is not used again.
  func impossible(_ field: String) -> ImageError {
    ImageError(
      .corrupt,
      format: format,
      "corrupt: the process that decodes \(format) images answered with an impossible \(field)",
    )
  }

  var ended: ImageError {
    ImageError(.corrupt, format: format, "corrupt: the process that decodes \(format) images ended unexpectedly")
  }
}

/// Rows that another process reads.
private final class ProcessRows: RowSource {
  /// The facts about the rows, all of them checked.
  struct Content {
    let width: Int
    let height: Int
    let extentWidth: Double
    let extentHeight: Double
    let hasAlpha: Bool

    /// `side` is the limit of both sides.
    init(_ bytes: [UInt8], side: Int) throws(Malformed) {
      var content = Message(bytes: bytes)
      let sides = 1...max(1, min(side, Message.sides.upperBound))
      width = try content.integer("width of rows", in: sides)
      height = try content.integer("number of rows", in: sides)
      // The last row and column may cover only a part of a pixel.
      extentWidth = try content.double("width", in: Double(width - 1).nextUp...Double(width))
      extentHeight = try content.double("height", in: Double(height - 1).nextUp...Double(height))
      hasAlpha = try content.flag("alpha")
      try content.end()
    }
  }

  private(set) var damage: ImageError?
  private let content: Content
  private let session: CodecSession
  private let giveBack: () -> Void
  private var row = 0

  /// `giveBack` receives the process when it is ready for the next request.
  init(_ session: CodecSession, _ content: Content, giveBack: @escaping () -> Void) {
    (self.session, self.content, self.giveBack) = (session, content, giveBack)
  }

  deinit {
    if session.isAlive { giveBack() }
  }

  var width: Int { content.width }
  var height: Int { content.height }
  var extentWidth: Double { content.extentWidth }
  var extentHeight: Double { content.extentHeight }
  var hasAlpha: Bool { content.hasAlpha }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    let count = min(count, height - row)
    guard count > 0 else { return 0 }
    var question = Message()
    question.add(Operation.read.rawValue)
    question.add(count)
    let got = try unsafe session.ask(question) { (answer) throws(Malformed) in
      let got = try answer.integer("number of rows", in: 1...count)
      if try answer.flag("damage") { damage = try answer.error(session.format) }
      return got
    }
    precondition(rows.count >= bytesPerRow * (got - 1) + width * 4)
    for row in 0..<got {
      let start = row * bytesPerRow
      // In bounds by the precondition.
      try unsafe session.receive(into: UnsafeMutableRawBufferPointer(rebasing: rows[start..<start + width * 4]))
    }
    row += got
    return got
  }
}
