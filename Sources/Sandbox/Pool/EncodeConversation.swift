import VitrineImaging
import VitrineRuntime

/// The messages about one picture to be encoded, from the program's side.
struct EncodeConversation {
  /// The time that an encoder may take: three years, which no system call refuses.
  private static let timeLimit = Duration.seconds(100_000_000)

  let worker: WorkerProcess
  let input: EncoderInput
  let options: SandboxEncodingOptions
  let format: ImageFormat
  /// The mapping of the pixels, once there is one.
  private var source: SharedMapping?
  /// The output, once there is one.
  private var output: SharedMapping?
  /// The bytes of all pixels that were sent.
  private var sentByteCount = 0

  init(_ worker: WorkerProcess, _ input: EncoderInput, _ options: SandboxEncodingOptions, _ format: ImageFormat) {
    (self.worker, self.input, self.options, self.format) = (worker, input, options, format)
  }

  /// Sends the picture and returns the file; blocks until done.
  mutating func run() throws(Conversation.Failure) -> Data {
    // The pixels are the program's own. An encoder takes what it takes.
    worker.limit(memory: .max, isEstimate: true, time: Self.timeLimit)
    try begin()
    var frames: AnimatedImageFrames?
    var hasSpace = false
    while true {
      var (message, reply) = try receive()
      switch reply {
      case .hello, .permit: throw .lied("kind of message")
      case .frame:
        guard let animation = input.animation else { throw .lied("kind of message") }
        // A frame that cannot be decoded, or is not wanted any more, ends the file: the worker waits for it.
        do throws(ImageError) {
          if frames == nil { frames = try input.frames(of: animation) }
        } catch {
          throw .stuck(error)
        }
        let next: AnimationFrame?
        do throws(ImageError) { next = try frames?.next() } catch { throw .stuck(error) }
        try send(next)
      case .space:
        guard !hasSpace else { throw .lied("number of requests") }
        hasSpace = true
        let count = try length(&message)
        guard let mapping = worker.mapping(.output, count) else { throw noMapping }
        output = mapping
        var hasWaited = false
        try send(.proceed) { (message) throws(Malformed) in try message.code(&hasWaited, "wait") }
      case .failed:
        var error = ImageError(.notEncodable, "")
        try lies { () throws(Malformed) in
          try message.code(&error)
          try message.end()
        }
        throw .image(error)
      case .done:
        let count = try length(&message)
        guard let output, count <= output.byteCount else { throw .lied("length") }
        return output.elements.elements.extracting(0..<count).data
      }
    }
  }

  /// Sends the picture, or the first frame.
  private mutating func begin() throws(Conversation.Failure) {
    var question = EncodeQuestion()
    let bitmap = input.bitmap
    (question.format, question.options, question.colorSpace) = (format, options, bitmap.colorSpace)
    (question.width, question.height, question.isOpaque) = (bitmap.width, bitmap.height, bitmap.alpha == .opaque)
    var end = bitmap.byteCount
    func place(_ data: Data?) -> SharedRange? {
      guard let data else { return nil }
      defer { end += data.count }
      return SharedRange(offset: end, count: data.count)
    }
    (question.exif, question.xmp) = (place(input.exif), place(input.xmp))
    if let animation = input.animation {
      question.animation = EncodeQuestion.Animation(
        frameCount: max(1, animation.info.frameCount),
        loopCount: min(max(0, animation.info.loopCount), Int(Int32.max)),
        hasAlpha: animation.info.hasAlpha,
      )
    }
    guard let mapping = worker.mapping(.input, end) else { throw noMapping }
    source = mapping
    copy(bitmap)
    for (range, data) in [(question.exif, input.exif), (question.xmp, input.xmp)] {
      guard let range, let data else { continue }
      // The mapping has room for both behind the pixels.
      let place = mapping.elements.extracting(range.offset..<range.offset + range.count)
      unsafe data.withUnsafeBytes { unsafe place.update(from: Elements($0)) }
    }
    guard let output = worker.mapping(.output, 1) else { throw noMapping }
    self.output = output
    try send(.encode) { (message) throws(Malformed) in try message.code(&question) }
  }

  /// Sends a frame, or that there is no other.
  private mutating func send(_ frame: AnimationFrame?) throws(Conversation.Failure) {
    var sent: EncodeFrame?
    if let frame {
      guard frame.bitmap.width == input.bitmap.width, frame.bitmap.height == input.bitmap.height else {
        throw .stuck(
          ImageError(.notEncodable, format: format, "cannot be encoded as \(format): its frames have different sizes")
        )
      }
      let bitmap = frame.bitmap.straightened().converted(to: input.bitmap.colorSpace)
      copy(bitmap)
      var fields = EncodeFrame()
      (fields.isOpaque, fields.delay) = (bitmap.alpha == .opaque, min(max(frame.delay, 0), 1e12))
      sent = fields
    }
    try send(.frame) { (message) throws(Malformed) in try message.code(&sent) }
  }

  /// Copies pixels to the beginning of the input, which has room for them.
  private mutating func copy(_ bitmap: Bitmap) {
    sentByteCount = sentByteCount.addingSaturating(bitmap.byteCount)
    guard let source else { return }
    bitmap.withElements { source.elements.update(from: $0) }
  }

  /// Reads the number of bytes of the file, which no encoder makes much longer than the pixels.
  private func length(_ message: inout Message) throws(Conversation.Failure) -> Int {
    var count = 0
    let metadata = (input.exif?.count ?? 0) + (input.xmp?.count ?? 0)
    let most = min(sentByteCount.multipliedSaturating(by: 2).addingSaturating(metadata + 1 << 20), SharedMapping.limit)
    try lies { () throws(Malformed) in
      try message.code(&count, "length", in: 1...most)
      try message.end()
    }
    return count
  }

  private var noMapping: Conversation.Failure { worker.channel.isEnded ? .ended(hasImage: false) : .noMemory }

  // MARK: Messages

  private func send(
    _ command: Command,
    _ fields: (inout Message) throws(Malformed) -> Void,
  ) throws(Conversation.Failure) {
    var (message, command) = (Message(), command)
    try lies { () throws(Malformed) in
      try message.code(kind: &command)
      try fields(&message)
    }
    let isFirst = command == .encode
    let result = try worker.channel.send(message) { () throws(Conversation.Failure) in try check() }
    guard case .success = result else { throw .ended(hasImage: !isFirst) }
  }

  private func receive() throws(Conversation.Failure) -> (Message, Reply) {
    switch try worker.channel.receive(check: { () throws(Conversation.Failure) in try check() }) {
    case .failure(.ended): throw .ended(hasImage: true)
    case .failure(.malformed): throw .lied("length")
    case .success(var message):
      var reply = Reply.done
      try lies { () throws(Malformed) in try message.code(kind: &reply) }
      return (message, reply)
    }
  }

  /// Gives up a picture that is not wanted any more: libraries that encode cannot be stopped otherwise.
  private func check() throws(Conversation.Failure) {
    do throws(ImageError) { try input.checkCancellation() } catch { throw .stuck(error) }
  }

  private func lies<Value>(_ body: () throws(Malformed) -> Value) throws(Conversation.Failure) -> Value {
    do throws(Malformed) { return try body() } catch { throw .lied(error.field) }
  }
}
