/// The places of images that are made to be encoded.
///
/// An image has its place from before its decode until it has been encoded, so that pictures do not pile up between
/// the two; an image that waits for its bytes has none. Lanes, such as the clients of a server, get places in turns: a
/// lane with a thousand images delays the first image of another lane by one.
package final class MakingPlaces: Sendable {
  package enum Entry {
    case place(MakingPlace)
    /// The image waits; the number is for ``leave(_:_:)``.
    case waiting(UInt64)
    /// Too many images wait.
    case full
  }

  private struct Waiting {
    let number: UInt64
    let begin: @Sendable (MakingPlace) -> Void
  }

  private struct State {
    var taken = 0
    /// The bytes of the pictures in the places.
    var bytes = 0
    var waiting = 0
    var lanes: [ByteString: [Waiting]] = [:]
    /// The lanes in which an image waits, in the order of their turns.
    var turns: [ByteString] = []
    var lastNumber: UInt64 = 0
  }

  private let limit: Int
  private let byteLimit: Int
  private let queueLimit: Int
  private let state = Lock(State())

  /// Makes places.
  ///
  /// - Parameters:
  ///   - limit: The number of places.
  ///   - byteLimit: The total bytes of pictures at which no further image begins.
  ///   - queueLimit: The maximum number of images that wait; `nil` for no limit.
  package init(limit: Int, byteLimit: Int, queueLimit: Int?) {
    (self.limit, self.byteLimit, self.queueLimit) = (limit, byteLimit, queueLimit ?? .max)
  }

  /// The number of places that are taken.
  package var count: Int { state.withLock { $0.taken } }

  /// Takes a place, or waits for one in a lane; `begin` is called only in that case, from any thread.
  package func enter(_ lane: ByteString, _ begin: @escaping @Sendable (MakingPlace) -> Void) -> Entry {
    state.withLock { state in
      if state.waiting == 0, hasRoom(state) {
        state.taken += 1
        return .place(MakingPlace(of: self))
      }
      guard state.waiting < queueLimit else { return .full }
      state.lastNumber += 1
      state.waiting += 1
      if state.lanes[lane] == nil { state.turns.append(lane) }
      state.lanes[lane, default: []].append(Waiting(number: state.lastNumber, begin: begin))
      return .waiting(state.lastNumber)
    }
  }

  /// Stops waiting.
  package func leave(_ lane: ByteString, _ number: UInt64) {
    // Released when the lock is open.
    let left = state.withLock { state -> Waiting? in
      guard var waiting = state.lanes[lane], let index = waiting.firstIndex(where: { $0.number == number }) else {
        return nil
      }
      let left = waiting.remove(at: index)
      state.waiting -= 1
      state.lanes[lane] = waiting.isEmpty ? nil : waiting
      if waiting.isEmpty { state.turns.removeAll { $0 == lane } }
      return left
    }
    withExtendedLifetime(left) {}
  }

  fileprivate func change(bytes: Int, places: Int) {
    let begins = state.withLock { state in
      state.bytes += bytes
      state.taken += places
      return next(&state)
    }
    for begin in begins { begin(MakingPlace(of: self)) }
  }

  private func hasRoom(_ state: State) -> Bool {
    state.taken == 0 || state.taken < limit && state.bytes < byteLimit
  }

  private func next(_ state: inout State) -> [@Sendable (MakingPlace) -> Void] {
    var begins: [@Sendable (MakingPlace) -> Void] = []
    while state.waiting > 0, hasRoom(state) {
      let lane = state.turns.removeFirst()
      guard var waiting = state.lanes[lane] else { continue }
      begins.append(waiting.removeFirst().begin)
      state.waiting -= 1
      state.taken += 1
      state.lanes[lane] = waiting.isEmpty ? nil : waiting
      if !waiting.isEmpty { state.turns.append(lane) }
    }
    return begins
  }
}

/// A place among the images that are made; releasing it gives it to the next one.
///
/// Several loads may make something of one picture. One of them has its place.
package final class MakingPlace: Sendable {
  private struct State {
    var bytes = 0
    var isTaken = true
  }

  private let places: MakingPlaces
  private let state = Lock(State())

  fileprivate init(of places: MakingPlaces) { self.places = places }

  deinit { places.change(bytes: -state.withLock { $0.bytes }, places: -1) }

  /// Notes the size of the picture that is held now.
  package func hold(_ count: Int) {
    let change = state.withLock { state in
      defer { state.bytes = count }
      return count - state.bytes
    }
    places.change(bytes: change, places: 0)
  }

  /// Has the next load take the place, with a picture of a size.
  package func offer(_ byteCount: Int) {
    hold(byteCount)
    state.withLock { $0.isTaken = false }
  }

  /// Takes the place that has been offered; returns `false` if another load has.
  package func take() -> Bool {
    state.withLock { state in
      defer { state.isTaken = true }
      return !state.isTaken
    }
  }
}
