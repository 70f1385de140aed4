/// The places of images that are made to be encoded.
///
/// An image has its place from before its decode until it has been encoded, so that pictures do not pile up between
/// the two; an image that waits for its bytes has none. Lanes, such as the clients of a server, get places in turns. A
/// lane that has none does not wait while a few guests' places are free: one image may take seconds to be encoded.
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
    /// The places that are taken, without the guests' places.
    var taken = 0
    var guests = 0
    /// The number of places of each lane that has any.
    var shares: [ByteString: Int] = [:]
    /// The bytes of the pictures in the places.
    var bytes = 0
    var waiting = 0
    var lanes: [ByteString: [Waiting]] = [:]
    /// The lanes in which an image waits, in the order of their turns.
    var turns: [ByteString] = []
    var lastNumber: UInt64 = 0
  }

  private let limit: Int
  private let guestLimit: Int
  private let byteLimit: Int
  private let queueLimit: Int
  private let state = Lock(State())

  /// Makes places.
  ///
  /// - Parameters:
  ///   - limit: The number of places.
  ///   - guestLimit: The number of further places, for lanes that have none.
  ///   - byteLimit: The total bytes of pictures at which no further image begins.
  ///   - queueLimit: The maximum number of images that wait; `nil` for no limit.
  package init(limit: Int, guestLimit: Int, byteLimit: Int, queueLimit: Int?) {
    (self.limit, self.guestLimit) = (limit, guestLimit)
    (self.byteLimit, self.queueLimit) = (byteLimit, queueLimit ?? .max)
  }

  /// The number of places that are taken.
  package var count: Int { state.withLock { $0.taken + $0.guests } }

  /// Takes a place, or waits for one in a lane; `begin` is called only in that case, from any thread.
  package func enter(_ lane: ByteString, _ begin: @escaping @Sendable (MakingPlace) -> Void) -> Entry {
    state.withLock { state in
      if state.waiting == 0, hasRoom(state) { return .place(take(for: lane, &state)) }
      if hasRoomForGuest(lane, state) { return .place(take(for: lane, isGuest: true, &state)) }
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

  fileprivate func change(bytes: Int) {
    begin(
      state.withLock { state in
        state.bytes += bytes
        return next(&state)
      }
    )
  }

  /// Takes back a place.
  fileprivate func end(of lane: ByteString, isGuest: Bool, bytes: Int) {
    begin(
      state.withLock { state in
        state.bytes -= bytes
        if isGuest { state.guests -= 1 } else { state.taken -= 1 }
        let share = (state.shares[lane] ?? 1) - 1
        state.shares[lane] = share == 0 ? nil : share
        return next(&state)
      }
    )
  }

  private func hasRoom(_ state: State) -> Bool {
    state.taken == 0 || state.taken < limit && state.bytes < byteLimit
  }

  /// Returns true if an image of a lane need not wait for the images of others.
  private func hasRoomForGuest(_ lane: ByteString, _ state: State) -> Bool {
    // A quarter more: the others may hold all the bytes for as long as one of them is encoded.
    state.guests < guestLimit && state.shares[lane] == nil && state.bytes < byteLimit + byteLimit / 4
  }

  private func take(for lane: ByteString, isGuest: Bool = false, _ state: inout State) -> MakingPlace {
    if isGuest { state.guests += 1 } else { state.taken += 1 }
    let share = state.shares[lane] ?? 0
    state.shares[lane] = share + 1
    return MakingPlace(of: self, lane, isGuest: isGuest, isFirst: share == 0 && lane != "")
  }

  private typealias Begin = (image: Waiting, place: MakingPlace)

  private func begin(_ images: [Begin]) { for (image, place) in images { image.begin(place) } }

  private func next(_ state: inout State) -> [Begin] {
    var begins: [Begin] = []
    while state.waiting > 0 {
      let isGuest = !hasRoom(state)
      guard let turn = state.turns.firstIndex(where: { !isGuest || hasRoomForGuest($0, state) }) else { break }
      let lane = state.turns.remove(at: turn)
      guard var waiting = state.lanes[lane] else { continue }
      begins.append((waiting.removeFirst(), take(for: lane, isGuest: isGuest, &state)))
      state.waiting -= 1
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

  /// True if the lane has a name and had no other place, so that the image must not wait behind other lanes' images.
  package let isFirst: Bool
  private let isGuest: Bool
  private let places: MakingPlaces
  private let lane: ByteString
  private let state = Lock(State())

  fileprivate init(of places: MakingPlaces, _ lane: ByteString, isGuest: Bool, isFirst: Bool) {
    (self.places, self.lane, self.isGuest, self.isFirst) = (places, lane, isGuest, isFirst)
  }

  deinit { places.end(of: lane, isGuest: isGuest, bytes: state.withLock { $0.bytes }) }

  /// Notes the size of the picture that is held now.
  package func hold(_ count: Int) {
    let change = state.withLock { state in
      defer { state.bytes = count }
      return count - state.bytes
    }
    places.change(bytes: change)
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
