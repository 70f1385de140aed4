import VitrineImaging
import VitrineRuntime

/// The messages about one image, from the program's side.
struct Conversation {
  /// The end of a conversation without an answer.
  enum Failure: Error {
    /// The image cannot be decoded, or is not wanted any more; the worker is ready for the next.
    case image(ImageError)
    /// The worker did not stop when it had to.
    case stuck(ImageError)
    /// The worker is gone, before or after it may have seen the image.
    case ended(hasImage: Bool)
    /// The worker broke the rules of the wire; the field.
    case lied(String)
    /// The system has no memory to share.
    case noMemory
  }

  /// The bytes that most decodes do not exceed.
  private static let usualByteCount = 32 << 20
  /// The number of times that a worker may ask for permission or for space for one image.
  private static let permitLimit = 4

  let worker: WorkerProcess
  let question: DecodeQuestion
  let format: ImageFormat
  /// The time for which the worker may reach its next check after it was told to stop.
  private let grace: Duration
  /// True if the worker may hold all that the image may, and not only what it asks for.
  private let holdsAll: Bool
  /// The bytes that are kept for the next frames of an animation.
  private var kept = 0
  private var control: DecodeControl
  /// The bytes of pixels that the worker has been permitted.
  private var permitted = 0
  /// The output, once there is one.
  private var output: SharedMapping?
  /// The reason why the image was given up, and the time at which the worker must have stopped.
  private var stop: (error: ImageError, deadline: ContinuousClock.Instant)?

  /// `question` has a time limit.
  init(
    _ worker: WorkerProcess,
    _ question: DecodeQuestion,
    _ format: ImageFormat,
    grace: Duration,
    holdsAll: Bool,
  ) {
    (self.worker, self.question, self.format) = (worker, question, format)
    (self.grace, self.holdsAll) = (grace, holdsAll)
    control = DecodeControl(
      isCancelled: question.options.isCancelled,
      timeLimit: question.options.limits.timeLimit,
    )
  }

  /// Asks about `input` and returns the answer; blocks until done.
  mutating func run(_ input: DecodeInput) throws(Failure) -> DecodeAnswer {
    let limits = question.options.limits
    worker.control.flag = false
    // A worker that decodes frames keeps what the next ones build on, also while it decodes something else.
    let keepsFrames = question.session != nil || worker.state.withLock { $0.session != nil }
    kept = keepsFrames ? limits.memoryByteCount : 0
    let (inputByteCount, heldByteCount) = try unsafe provide(input)
    try provideOutput(1)
    var (question, byteCount, allowance) = (question, inputByteCount, try hold())
    worker.limit(
      memory: max(allowance, heldByteCount).addingSaturating(kept),
      isEstimate: !holdsAll,
      time: limits.timeLimit ?? .seconds(60),
    )
    try send(.question) { (message) throws(Malformed) in
      try message.code(&question, byteCount: &byteCount, allowance: &allowance)
    }
    var permits = 0
    while true {
      var (message, reply) = try receive()
      switch reply {
      case .hello, .frame: throw .lied("kind of message")
      case .permit:
        permits += 1
        guard permits <= Self.permitLimit else { throw .lied("number of requests") }
        try permit(&message)
      case .space:
        // A worker that keeps what it gets could have any number of mappings.
        permits += 1
        guard permits <= Self.permitLimit else { throw .lied("number of requests") }
        var count = 0
        let most = mostOutput
        try lies { () throws(Malformed) in
          try message.code(&count, "length", in: 1...most)
          try message.end()
        }
        try provideOutput(count)
        try proceed(hasWaited: false)
      case .failed:
        var error = ImageError(.corrupt, "")
        try lies { () throws(Malformed) in
          try message.code(&error)
          try message.end()
        }
        throw .image(stop?.error ?? error)
      case .done:
        if let stop { throw .image(stop.error) }
        // The mapping is held until the answer has been read.
        var fields = AnswerFields(reading: message, output?.elements.elements ?? .empty, question.options)
        let (kind, byteCount) = (question.kind, inputByteCount)
        return try lies { () throws(Malformed) in try fields.code(nil, to: kind, byteCount: byteCount) }
      }
    }
  }

  /// Gives the worker its input; returns its size, and the bytes of it that are held in memory.
  private func provide(_ input: DecodeInput) throws(Failure) -> (all: Int, held: Int) {
    switch unsafe input {
    case .bytes(let bytes):
      guard let memory = worker.mapping(.input, bytes.count) else { throw noMapping }
      // Only read.
      unsafe memory.elements.update(from: Elements(bytes))
      return (bytes.count, bytes.count)
    case .file(let file):
      let isLent: Bool
      do throws(FileError) {
        isLent = try worker.lend(file)
      } catch {
        throw .image(ImageError(.decoderFailed, format: format, error.description))
      }
      guard isLent else { throw noMapping }
      return (file.byteCount, 0)
    }
  }

  /// Holds the bytes that the worker may hold without asking, and returns their number.
  private mutating func hold() throws(Failure) -> Int {
    let (all, share) = (question.options.limits.memoryByteCount, question.job.memoryShare)
    guard holdsAll else {
      let count = min(Self.usualByteCount, all)
      return share?.tryHold(count) ?? true ? count : 0
    }
    do throws(ImageError) {
      if try share?.hold(all, control) ?? false { control = control.restarted() }
    } catch {
      throw .image(error)
    }
    return all
  }

  /// Answers a worker that has read the header.
  private mutating func permit(_ message: inout Message) throws(Failure) {
    var needs = Needs()
    try lies { () throws(Malformed) in
      try message.code(&needs)
      try message.end()
    }
    let (pixels, hasWaited): (Int, Bool)
    do throws(ImageError) {
      (pixels, hasWaited) = try admit(needs)
    } catch {
      beginStop(error)
      return try send(.refuse)
    }
    if hasWaited { control = control.restarted() }
    let most = pixels.addingSaturating(needs.extra)
    permitted = max(permitted, most)
    try provideOutput(most)
    try proceed(hasWaited: hasWaited)
  }

  /// Checks what a worker needs, and waits for the share of memory.
  ///
  /// - Returns: The bytes of the pixels, and whether it had to wait.
  private func admit(_ needs: Needs) throws(ImageError) -> (pixels: Int, hasWaited: Bool) {
    let options = question.options
    try options.limits.check(needs.info)
    let plan = try options.plan(for: needs.info)
    try options.limits.check(memory: needs.memory, of: needs.info)
    guard needs.extra <= options.limits.metadataByteCount.addingSaturating(1 << 10) else {
      throw ImageError(.corrupt, format: format, "corrupt: a profile of \(needs.extra) bytes")
    }
    let pixels = plan.width * plan.height * options.bytesPerPixel
    guard !holdsAll else { return (pixels, false) }
    // The pixels are held twice for a moment.
    let held = needs.memory.addingSaturating(pixels)
    let hasWaited = try question.job.memoryShare?.hold(held, control) ?? false
    let time = options.limits.timeLimit ?? .seconds(60)
    worker.limit(memory: held.addingSaturating(kept), isEstimate: true, time: time)
    return (pixels, hasWaited)
  }

  /// The largest output that an answer can need: the pixels that are permitted, or fit without, and what belongs to them.
  private var mostOutput: Int {
    let limits = question.options.limits
    let pixels = max(permitted, output?.byteCount ?? 0)
    let other = limits.metadataByteCount.multipliedSaturating(by: 4)
      .addingSaturating(limits.frameCount.multipliedSaturating(by: 8)).addingSaturating(1 << 12)
    return min(pixels.addingSaturating(other), SharedMapping.limit)
  }

  private mutating func provideOutput(_ count: Int) throws(Failure) {
    guard let mapping = worker.mapping(.output, count) else { throw noMapping }
    output = mapping
  }

  private mutating func proceed(hasWaited: Bool) throws(Failure) {
    var hasWaited = hasWaited
    try send(.proceed) { (message) throws(Malformed) in try message.code(&hasWaited, "wait") }
  }

  private var noMapping: Failure { worker.channel.isEnded ? .ended(hasImage: false) : .noMemory }

  // MARK: Messages

  private mutating func send(
    _ command: Command,
    _ fields: (inout Message) throws(Malformed) -> Void = { _ in },
  ) throws(Failure) {
    var (message, command) = (Message(), command)
    try lies { () throws(Malformed) in
      try message.code(kind: &command)
      try fields(&message)
    }
    let isFirst = command == .question
    let result = try worker.channel.send(message) { () throws(Failure) in try check() }
    guard case .success = result else { throw .ended(hasImage: !isFirst) }
  }

  private mutating func receive() throws(Failure) -> (Message, Reply) {
    switch try worker.channel.receive(check: { () throws(Failure) in try check() }) {
    case .failure(.ended): throw .ended(hasImage: true)
    case .failure(.malformed): throw .lied("length")
    case .success(var message):
      var reply = Reply.done
      try lies { () throws(Malformed) in try message.code(kind: &reply) }
      return (message, reply)
    }
  }

  /// Tells the worker to stop when the image is cancelled or takes too long; throws if it does not.
  private mutating func check() throws(Failure) {
    if let stop {
      if ContinuousClock.now >= stop.deadline { throw .stuck(stop.error) }
      return
    }
    do throws(ImageError) { try control.check() } catch { beginStop(error) }
  }

  private mutating func beginStop(_ error: ImageError) {
    worker.control.flag = true
    stop = (error, .now + grace)
  }

  private func lies<Value>(_ body: () throws(Malformed) -> Value) throws(Failure) -> Value {
    do throws(Malformed) { return try body() } catch { throw .lied(error.field) }
  }
}
