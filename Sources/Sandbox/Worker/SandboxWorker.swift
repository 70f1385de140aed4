import CVitrineSandbox
package import VitrineImaging
package import VitrineRuntime

/// Answers the questions of a program about images, one after another, until the program closes the socket.
///
/// It runs in the worker, with the decoders or encoders that do the work.
// @unchecked: one thread runs it. Only `control` and `file` are read on others, by decoders that ask whether to stop.
@safe
package final class SandboxWorker: DecodeHost, @unchecked Sendable {
  /// The end of the work: the program is gone, or is not one of ours.
  enum End: Error { case ended }

  private let decoders: DecoderRegistry
  let encoders: [SandboxedEncoder]
  private let channel: Channel
  private var control: SharedMapping?
  private(set) var input: SharedMapping?
  /// The input, if it is a file.
  private var file: SharedMapping?
  private(set) var output: SharedMapping?
  /// Outputs that were replaced while pixels are in them.
  private var replaced: [SharedMapping] = []
  /// The animations of which frames were decoded last, the latest first.
  private var animations: [Animation] = []
  /// The bytes that the current image may take without asking.
  private var allowance = 0
  /// The bytes of the output that may be an earlier image's.
  private var writtenByteCount = 0
  /// True once the program has permitted the current image, so that its pixels may go to the output.
  private var isPermitted = false
  /// True if the program is gone.
  var hasEnded = false

  /// Makes a worker on a socket of messages, which stays open.
  package init(_ decoders: DecoderRegistry, encoders: [SandboxedEncoder] = [], on socket: Int32) {
    (self.decoders, self.encoders, channel) = (decoders, encoders, Channel(socket))
  }

  /// Says hello and answers questions; returns when the program needs no more.
  ///
  /// - Parameters:
  ///   - missingLayers: The layers that the system lacks.
  ///   - failure: The reason why the library of the worker's kind cannot be opened; its images fail, too.
  package func run(missingLayers: Set<Sandbox.Layer>, without failure: LibraryFailure? = nil) {
    var hello = Hello()
    (hello.missingLayers, hello.libraryFailure) = (missingLayers, failure?.reason ?? "")
    vitrine_end_when_out_of_memory()
    do {
      try send(.hello) { (message) throws(Malformed) in try message.code(&hello) }
      while true {
        var (message, command) = try receive()
        switch command {
        case .memory: continue
        case .question: try answer(&message)
        case .encode: try encode(&message)
        case .proceed, .refuse, .frame: return
        }
      }
    } catch {
      // The program has ended, or is not the one that this worker serves.
    }
  }

  private func answer(_ message: inout Message) throws {
    var (question, byteCount) = (DecodeQuestion(.info, DecodeOptions()), 0)
    try message.code(&question, byteCount: &byteCount, allowance: &allowance)
    try message.end()
    guard let input, byteCount <= input.byteCount else { throw End.ended }
    replaced = []
    isPermitted = false
    clearOutput()
    // The cores are lent by the program, which runs more workers beside this one.
    question.job = DecodeJob(cores: CoreBudget(count: question.job.threadCount), host: self)
    // Decoders ask now and then while they read. Otherwise a large file would fill the memory.
    question.options.isCancelled = { [self] in
      file?.forget()
      return control?.flag == true || hasEnded
    }
    defer { if file != nil { (self.input, file) = (nil, nil) } }
    // The program does not change the input before it has the answer. A file may change, which harms this process alone.
    let data = unsafe input.elements.extracting(0..<byteCount).withUnsafeBytes { bytes in
      // The mapping stays until the answer has been sent.
      unsafe bytes.baseAddress.map { unsafe Data(bytesNoCopy: $0, count: bytes.count, deallocator: .none) } ?? Data()
    }
    let result: Result<DecodeAnswer, ImageError>
    do throws(ImageError) {
      result = .success(try answer(question, about: data))
    } catch {
      result = .failure(error)
    }
    guard !hasEnded else { throw End.ended }
    switch result {
    case .success(let answer):
      var (fields, kind) = (AnswerFields(), Reply.done)
      try fields.message.code(kind: &kind)
      _ = try fields.code(answer, to: question.kind, byteCount: byteCount)
      try finish(fields)
    case .failure(var error):
      try send(.failed) { (message) throws(Malformed) in try message.code(&error) }
    }
  }

  /// Clears what the last image has left in the output, before the next one; freed memory has been cleared.
  func clearOutput() {
    output?.clear(0..<writtenByteCount)
    writtenByteCount = 0
  }

  /// Notes that an image is in the first bytes of the output.
  func writes(_ byteCount: Int) { writtenByteCount = max(writtenByteCount, byteCount) }

  private func answer(_ question: DecodeQuestion, about data: Data) throws(ImageError) -> DecodeAnswer {
    guard let session = question.session, question.kind == .image else {
      return try decoders.answer(question, about: data)
    }
    return .image(try frame(session, question, of: data))
  }

  // MARK: Animations

  /// The frames of an animation of which this worker decoded one.
  private final class Animation {
    let session: FrameSession
    var frames: FrameSource

    init(_ session: FrameSession, _ frames: consuming FrameSource) {
      self.session = session
      self.frames = frames
    }
  }

  /// The bytes that animations may hold while the program asks about others; the last one may hold more.
  private static let animationByteLimit = 64 << 20

  /// Decodes a frame; what the next one builds on stays, as long as there is room.
  private func frame(
    _ session: FrameSession,
    _ question: DecodeQuestion,
    of data: Data,
  ) throws(ImageError) -> ImageContainer {
    let options = question.options
    let animation: Animation
    if let index = animations.firstIndex(where: { $0.session == session }) {
      animation = animations.remove(at: index)
      // A file that is still loading has more bytes than before.
      if data.count > animation.frames.fileByteCount { try animation.frames.extend(to: Data(Array(data))) }
    } else {
      // A copy, since the program puts other images into the input.
      animation = Animation(session, try FrameSource(Data(Array(data)), options, question.job, decoders: decoders))
    }
    let frame = try animation.frames.frame(at: options.frame) { (kept, job) in
      job.host = self
      kept.isCancelled = options.isCancelled
      kept.limits.timeLimit = options.limits.timeLimit
    }
    var byteCount = animation.frames.byteCount
    animations = animations.prefix { other in
      byteCount = byteCount.addingSaturating(other.frames.byteCount)
      return byteCount <= Self.animationByteLimit
    }
    animations.insert(animation, at: 0)
    return ImageContainer(frame.bitmap, info: animation.frames.info)
  }

  /// Puts the parts of an answer into the output, unless they are there, and sends it.
  private func finish(_ fields: AnswerFields) throws {
    if fields.outputByteCount > output?.byteCount ?? 0 {
      var count = fields.outputByteCount
      try send(.space) { (message) throws(Malformed) in try message.code(&count, "length") }
      guard try waitForPermission().isGiven else { throw End.ended }
    }
    guard fields.outputByteCount <= output?.byteCount ?? 0 else { throw End.ended }
    writes(fields.outputByteCount)
    for (range, part) in fields.parts {
      // In the output by the guard. Without one there is no part that has a byte.
      guard range.count > 0, let target = output?.elements else { continue }
      let place = target.extracting(range.offset..<range.offset + range.count)
      switch part {
      // Only read.
      case .data(let data): unsafe data.withUnsafeBytes { unsafe place.update(from: Elements($0)) }
      case .bitmap(let bitmap): bitmap.withElements { place.update(from: $0) }
      case .gray(let bitmap): bitmap.withElements { place.update(from: $0) }
      }
    }
    guard case .success = channel.send(fields.message, check: {}) else { throw End.ended }
  }

  // MARK: The host of a decode

  package var holdsInput: Bool { file == nil }

  package func permit(_ info: ImageInfo, memory: Int, output: Int) throws(ImageError) -> Bool {
    var needs = Needs()
    needs.info = info
    needs.memory = memory
    needs.extra = AnswerFields.extraByteCount(info)
    let space = self.output?.byteCount ?? 0
    guard memory > allowance || output > space || needs.extra > space - output else {
      isPermitted = true
      return false
    }
    do {
      try send(.permit) { (message) throws(Malformed) in try message.code(&needs) }
      let answer = try waitForPermission()
      if answer.isGiven {
        isPermitted = true
        return answer.hasWaited
      }
    } catch {
      hasEnded = true
    }
    throw ImageError(.cancelled, "cancelled")
  }

  package func memory(byteCount: Int) -> UnsafeMutableRawBufferPointer? {
    guard isPermitted, let output, byteCount <= output.byteCount else { return nil }
    writes(byteCount)
    // The mapping stays until the answer has been sent.
    return unsafe output.elements.extracting(0..<byteCount).withUnsafeBytes { unsafe $0 }
  }

  // MARK: Messages

  func waitForPermission() throws -> (isGiven: Bool, hasWaited: Bool) {
    while true {
      var (message, command) = try receive()
      switch command {
      case .memory: continue
      case .proceed:
        var hasWaited = false
        try message.code(&hasWaited, "wait")
        return (true, hasWaited)
      case .refuse: return (false, false)
      case .question, .encode, .frame: throw End.ended
      }
    }
  }

  func send(_ kind: Reply, _ fields: (inout Message) throws(Malformed) -> Void = { _ in }) throws {
    var (message, kind) = (Message(), kind)
    try message.code(kind: &kind)
    try fields(&message)
    guard case .success = channel.send(message, check: {}) else { throw End.ended }
  }

  /// Receives a message; maps the memory that comes with one.
  func receive() throws -> (Message, Command) {
    var (message, descriptor) = try channel.receiveWithDescriptor().get()
    defer { if descriptor >= 0 { close(descriptor) } }
    var command = Command.memory
    try message.code(kind: &command)
    if command == .memory { try map(&message, descriptor) }
    return (message, command)
  }

  private func map(_ message: inout Message, _ descriptor: Int32) throws {
    var (role, byteCount) = (MemoryRole.control, 0)
    try message.code(&role, byteCount: &byteCount)
    try message.end()
    // The old one first, so that there are never two large ones; pixels in an output stay until they are copied.
    switch role {
    case .control: control = nil
    case .input, .file: (input, file) = (nil, nil)
    case .output:
      if let output, isPermitted { replaced.append(output) }
      output = nil
    }
    guard let memory = SharedMapping(descriptor, byteCount: byteCount, isWritable: role == .output) else {
      throw End.ended
    }
    switch role {
    case .control: control = memory
    case .input: input = memory
    case .file: (input, file) = (memory, memory)
    case .output: output = memory
    }
  }
}
