package import VitrineRuntime

/// An estimate of the bytes that decoding one image holds, made from its header.
package struct DecodeMemory: Hashable, Sendable {
  /// The bytes that the codec holds: coefficients, planes, canvases.
  package var codec: Int
  /// The bytes of a picture that is held before its first row is read.
  ///
  /// If the rows are those of the bitmap, they are decoded into it instead.
  package var rows: Int
  /// The bytes that the codec frees before the first row is read.
  package var transient = 0

  package init(codec: Int = 0, rows: Int = 0, transient: Int = 0) {
    (self.codec, self.rows, self.transient) = (codec, rows, transient)
  }

  /// The estimate of a decoder that makes none of its own.
  package init(_ info: ImageInfo) {
    let pixels = info.storedWidth.multipliedReportingOverflow(by: info.storedHeight)
    self.init(codec: info.workingByteCount ?? (info.streamsRows || pixels.overflow ? 0 : 4 * pixels.partialValue))
  }

  /// Returns the peak of a decode with its result of `output` bytes.
  func total(output: Int, decodesInPlace: Bool) -> Int {
    let held = codec.addingSaturating(decodesInPlace ? 0 : rows)
    // A result takes no memory before its first row is written.
    return max(held.addingSaturating(transient), held.addingSaturating(output))
  }
}

/// A share of a budget that several have in common: of a decode, or of an encode with the decodes of its frames.
package final class MemoryShare: Sendable {
  private struct State {
    var held = 0
    /// The bytes that are held with each of these.
    var base = 0
    var isWaiting = false
  }

  private let budget: ByteBudget
  private let state = Lock(State())

  /// Makes an empty share.
  package init(of budget: ByteBudget) {
    self.budget = budget
  }

  deinit { release() }

  /// A Boolean value that indicates whether the decode waits for others to end.
  package var isWaiting: Bool { state.withLock { $0.isWaiting } }

  /// Waits until `count` bytes are free, or no other decode holds any.
  ///
  /// - Returns: `true` if it had to wait.
  package func hold(_ count: Int, _ control: DecodeControl) throws(ImageError) -> Bool {
    release()
    let count = count.addingSaturating(state.withLock { $0.base })
    let hasWaited = try waiting { () throws(ImageError) in
      try budget.acquire(count) { () throws(ImageError) in try control.checkCancellation() }
    }
    state.withLock { $0.held = count }
    return hasWaited
  }

  /// Has `count` bytes be held with all others from now on: those of the work that decodes are a part of.
  ///
  /// They do not get a share of their own, since who holds one while it waits for another could wait for ever.
  package func setBase(_ count: Int) { state.withLock { $0.base = count } }

  /// Calls `body`, which waits for others to end.
  package func waiting<Value>(_ body: () throws(ImageError) -> Value) throws(ImageError) -> Value {
    state.withLock { $0.isWaiting = true }
    defer { state.withLock { $0.isWaiting = false } }
    return try body()
  }

  /// Holds `count` bytes if that needs no wait; returns `false` otherwise.
  package func tryHold(_ count: Int) -> Bool {
    release()
    let count = count.addingSaturating(state.withLock { $0.base })
    guard budget.tryAcquire(count) else { return false }
    state.withLock { $0.held = count }
    return true
  }

  /// Returns the bytes to the budget; does nothing the second time.
  package func release() {
    let count = state.withLock { state in
      defer { state.held = 0 }
      return state.held
    }
    if count > 0 { budget.release(count) }
  }
}

extension DecodeOptions {
  /// Checks the memory of a decode against the limit, and waits for its share of the common budget.
  ///
  /// Threads for which there is no memory are given up.
  ///
  /// - Returns: The control of the decode, whose time begins after the wait.
  mutating func admit(
    _ decoder: any ImageDecoder,
    _ bytes: UnsafeRawBufferPointer,
    _ plan: SamplingPlan,
    _ info: ImageInfo,
    _ control: DecodeControl,
  ) throws(ImageError) -> DecodeControl {
    let memory = try unsafe decoder.memory(of: bytes, request(for: info, plan, control))
    let output = plan.width * plan.height * bytesPerPixel
    let isWhole =
      plan.width == info.width && plan.height == info.height && info.orientation == .up && bytesPerPixel == 4
      && plan.crop.width == Double(info.width) && plan.crop.height == Double(info.height)
    var total = memory.total(output: output, decodesInPlace: isWhole)
      .addingSaturating(host?.holdsInput ?? true ? bytes.count : 0)
      .addingSaturating(4 * (info.colorProfile?.data.count ?? 0))
    let threads = total.addingSaturating((threadCount - 1) * DecodeThreads.byteCount)
    if threads <= limits.memoryByteCount { total = threads } else { threadCount = 1 }
    try limits.check(memory: total, of: info)
    var hasWaited = try memoryShare?.hold(total, control) ?? false
    if let host, try host.permit(info, memory: total, output: output) { hasWaited = true }
    return hasWaited ? control.restarted() : control
  }
}

extension ImageDecoder {
  /// Estimates the memory of opening one frame.
  package func memory(of bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    guard let own = self as? any VitrineDecoder else { return DecodeMemory(request.info) }
    return try unsafe own.memory(for: bytes, request)
  }
}
