import VitrineRuntime

/// The bodies of images that are being sent or are kept in memory: equal ones are one, and their bytes have a limit.
final class BodyBudget: Sendable {
  private struct Known {
    weak var body: Body?
    let number: Int
  }

  private struct State {
    var bytes = 0
    var known: [String: Known] = [:]
    var lastNumber = 0
  }

  private let limit: Int
  private let state = Lock(State())

  /// Makes a budget of a number of bytes.
  init(limit: Int) { self.limit = limit }

  /// The bytes that are held.
  var byteCount: Int { state.withLock { $0.bytes } }

  /// True if not even a short body would fit.
  var isFull: Bool { byteCount >= limit }

  /// Returns a body of these bytes; `nil` if they do not fit beside the others.
  ///
  /// The body of a tag is shared by all clients that ask for it while any of them has it. One body always fits beside
  /// short ones: how large an image may be is another setting.
  func body(_ data: Data, tag: String?) -> Body? {
    let count = data.count
    let (body, number) = state.withLock { state -> (Body?, Int?) in
      if let known = tag.flatMap({ state.known[$0]?.body }) { return (known, nil) }
      guard count <= limit - state.bytes || state.bytes <= limit / 4 else { return (nil, nil) }
      state.bytes += count
      state.lastNumber += 1
      return (nil, state.lastNumber)
    }
    guard let number else { return body }
    // Copied without the lock. Of two at once the later one is shared.
    let new = Body(data) { [weak self] in self?.release(count, tag, number) }
    if let tag { state.withLock { $0.known[tag] = Known(body: new, number: number) } }
    return new
  }

  // By number: a body that is looked at here might end here, under the lock that its end needs.
  private func release(_ count: Int, _ tag: String?, _ number: Int) {
    state.withLock { state in
      state.bytes -= count
      if let tag, state.known[tag]?.number == number { state.known[tag] = nil }
    }
  }
}
