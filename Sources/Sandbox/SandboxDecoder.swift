import VitrineImaging
import VitrineRuntime

/// Decodes images in the workers of a sandbox.
struct SandboxDecoder: RemoteDecoder {
  let formats: [ImageFormat]
  let pool: WorkerPool
  let killers: Killers
  let timeLimit: Duration
  let slowShare: Double
  let grace: Duration

  /// The number of workers that may end before they have an image.
  static let attemptLimit = 3

  func answer(
    _ question: DecodeQuestion,
    about input: DecodeInput,
    of format: ImageFormat,
  ) throws(ImageError) -> DecodeAnswer {
    var question = question
    let limit = min(question.options.limits.timeLimit ?? timeLimit, timeLimit)
    question.options.limits.timeLimit = limit
    if let known = unsafe killers.error(of: input, timeLimit: limit) {
      pool.count { $0.refused += 1 }
      throw known
    }
    var attempt = Attempt()
    while true {
      attempt.number += 1
      let worker = try take(WorkerKind(decoding: format), question)
      // Only now, since it may have waited for the worker.
      question.job.threadCount = question.job.coreShare?.extend(to: format.row.threads) ?? 1
      var conversation = Conversation(worker, question, format, grace: grace, holdsAll: attempt.holdsAll)
      do throws(Conversation.Failure) {
        let answer = try unsafe conversation.run(input)
        finish(worker, question.session)
        return answer
      } catch {
        try unsafe prepare(&attempt, after: error, of: worker, input, question, format)
      }
    }
  }

  private struct Attempt {
    var number = 0
    /// True if the worker may hold all that the image may.
    ///
    /// The header of a drawing says little of the memory that it needs. After a worker that was refused memory comes one
    /// with the whole limit.
    var holdsAll = false
  }

  /// Prepares another attempt after one that has failed, or throws the error of the image.
  private func prepare(
    _ attempt: inout Attempt,
    after failure: Conversation.Failure,
    of worker: WorkerProcess,
    _ input: DecodeInput,
    _ question: DecodeQuestion,
    _ format: ImageFormat,
  ) throws(ImageError) {
    let limits = question.options.limits
    func holdAll() throws(ImageError) {
      guard !attempt.holdsAll else { throw outOfMemory(limits, format) }
      attempt.holdsAll = true
    }
    switch failure {
    case .image(let error):
      finish(worker, nil)
      guard error.code == .decoderFailed, error.limit == .memoryByteCount else { throw error }
      try holdAll()
    // It may have been killed while it was idle, which costs no image.
    case .ended(hasImage: false) where attempt.number < Self.attemptLimit: pool.retire(worker)
    case .ended:
      let status = worker.end()
      guard WorkerProcess.isOutOfMemory(status) else { throw unsafe end(of: worker, status, input, format) }
      pool.retire(worker)
      try holdAll()
    case .stuck(let error):
      pool.count { $0.stopped += 1 }
      let isSlow = worker.imageTime >= slowShare * ((limits.timeLimit ?? timeLimit) / .seconds(1))
      pool.retire(worker)
      if error.code == .outOfTime, isSlow { unsafe killers.remember(input, error, timeLimit: limits.timeLimit) }
      throw error
    case .lied(let field):
      pool.count { $0.crashed += 1 }
      pool.retire(worker)
      let detail = "the process that decodes \(format) images answered with an impossible \(field)"
      let error = ImageError(.decoderFailed, format: format, detail)
      unsafe killers.remember(input, error, timeLimit: nil)
      throw error
    case .noMemory:
      pool.retire(worker)
      throw ImageError(.decoderFailed, format: format, "the system has no memory to share with the decoder")
    }
  }

  /// Takes a worker; the time of the decode begins afterwards.
  private func take(_ kind: WorkerKind, _ question: DecodeQuestion) throws(ImageError) -> WorkerProcess {
    let control = DecodeControl(isCancelled: question.options.isCancelled, timeLimit: nil)
    func take() throws(ImageError) -> WorkerProcess {
      try pool.take(kind, question.session) { () throws(ImageError) in try control.check() }
    }
    guard let share = question.job.memoryShare else { return try take() }
    return try share.waiting(take)
  }

  private func finish(_ worker: WorkerProcess, _ session: FrameSession?) {
    worker.finishImage(session)
    pool.count { $0.images += 1 }
    pool.giveBack(worker)
  }

  private func outOfMemory(_ limits: DecodeLimits, _ format: ImageFormat) -> ImageError {
    ImageError(
      .overLimit,
      format: format,
      limit: .memoryByteCount,
      "\(format) that needs more memory than the limit of \(limits.memoryByteCount / 1_000_000) MB",
    )
  }

  /// Returns the error of a worker that ended while it decoded.
  private func end(
    of worker: WorkerProcess,
    _ status: Int32?,
    _ input: DecodeInput,
    _ format: ImageFormat,
  ) -> ImageError {
    pool.count { $0.crashed += 1 }
    pool.retire(worker)
    let signal = status.map { $0 & 0x7F } ?? 0
    // A worker leaves when a file that is lent to it is shorter than it was, and ends by a signal when it becomes shorter or
    // cannot be read. Later the file may be whole again, or its disk back.
    if case .file = unsafe input, signal == SIGBUS || status == 0 {
      let detail = "the file became shorter, or could not be read, while it was decoded"
      return ImageError(.decoderFailed, format: format, detail)
    }
    let error = ImageError(
      .decoderFailed,
      format: format,
      "the process that decodes \(format) images \(Self.cause(signal))",
    )
    // A kill comes from outside: from a person, or from a system that is out of memory.
    if signal != SIGKILL, signal != SIGTERM { unsafe killers.remember(input, error, timeLimit: nil) }
    return error
  }

  static func cause(_ signal: Int32) -> String {
    switch signal {
    case SIGSEGV: "crashed: an access to memory that it does not have (SIGSEGV)"
    case SIGBUS: "crashed: an access to memory that it does not have (SIGBUS)"
    case SIGABRT: "crashed: it aborted (SIGABRT)"
    case SIGILL, SIGTRAP: "crashed: it found an error in itself, or ran out of memory (signal \(signal))"
    case SIGFPE: "crashed: an impossible calculation (SIGFPE)"
    case SIGSYS: "was stopped: it made a system call that no decoder makes (SIGSYS)"
    case SIGXCPU: "was stopped: it used more processor time than the time limit allows (SIGXCPU)"
    case SIGKILL: "was killed from outside (SIGKILL)"
    case SIGTERM: "was ended from outside (SIGTERM)"
    case 0: "ended before its answer"
    default: "ended by signal \(signal)"
    }
  }
}
