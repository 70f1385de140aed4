public import VitrineRuntime

/// The memory that decoded frames of animations hold together.
///
/// Each animation that plays may hold an equal share of the limit, and at least two frames: the shown one and
/// the next, for every view that is out of step with the others. What an animation holds that does not play is freed
/// when another needs the room. Animations that no view shows any more, such as in cells that were scrolled away, hold at most
/// an eighth of the limit together. Under memory pressure all frames are freed that can be decoded again, and for half a
/// minute each animation holds no more than that minimum.
public final class FrameBudget: Sendable {
  /// The budget of animations that have no other: 64 MB, under the system's memory pressure.
  public static let shared = FrameBudget()

  /// The memory of an animation at one moment.
  struct Holding {
    var byteCount = 0
    var isActive = false
    /// True if it has a player, playing or not.
    var isShown = false
    /// The number of holdings that the animation has stated so far; of two, the one with more is the newer.
    var version = 0

    /// True if no view shows it.
    var isUnseen: Bool { !isActive && !isShown }
  }

  /// The limits of an animation at one moment.
  struct Allowance {
    /// The bytes that each animation that plays may hold; 0 while memory is scarce.
    let share: Int
    /// The time of the budget's clock.
    let now: Duration
  }

  private struct Entry {
    weak var store: FrameStore?
    var holding = Holding()
    var lastUse = 0
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    var uses = 0
    /// The time until which memory is scarce.
    var scarceUntil = Duration.zero
    var observation: MemoryPressureObservation?
  }

  /// The time after memory pressure in which animations hold two frames.
  private static let recovery = Duration.seconds(30)

  /// The limit, in bytes.
  public let byteLimit: Int
  private let time: any TimeSource
  private let state = Lock(State())

  /// Makes a budget.
  ///
  /// - Parameters:
  ///   - byteLimit: The limit, in bytes. Defaults to 64 MB.
  ///   - memoryPressure: The source of memory pressure; `nil` for none. Defaults to the system.
  ///   - time: The clock. Defaults to the system clock.
  public init(
    byteLimit: Int = 64_000_000,
    memoryPressure: (any MemoryPressureSource)? = .system,
    time: any TimeSource = SystemClock(),
  ) {
    (self.byteLimit, self.time) = (max(0, byteLimit), time)
    let observation = memoryPressure?.observe { [weak self] _ in self?.shrink() }
    state.withLock { $0.observation = observation }
  }

  /// The bytes that animations hold: frames, the canvases that they are drawn on, and the state of codecs.
  public var byteCount: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.holding.byteCount } } }

  /// The limits of an animation now.
  var allowance: Allowance {
    let now = time.uptime
    let share = state.withLock { state in
      guard now >= state.scarceUntil else { return 0 }
      return byteLimit / max(1, state.entries.values.count { $0.holding.isActive })
    }
    return Allowance(share: share, now: now)
  }

  /// Notes what an animation holds, and frees what others hold without need if that is too much.
  func update(_ store: FrameStore, _ holding: Holding) {
    note(store, holding)
    let released = state.withLock { state -> [FrameStore] in
      let total = state.entries.values.reduce(0) { $0 + $1.holding.byteCount }
      let unseen = state.entries.values.reduce(0) { $0 + ($1.holding.isUnseen ? $1.holding.byteCount : 0) }
      var (excess, unseenExcess) = (total - byteLimit, unseen - byteLimit / 8)
      guard excess > 0 || unseenExcess > 0 else { return [] }
      var released: [FrameStore] = []
      let idle = state.entries.filter { !$0.value.holding.isActive && $0.value.holding.byteCount > 0 }
      for (key, entry) in idle.sorted(by: { $0.value.lastUse < $1.value.lastUse })
      where excess > 0 || unseenExcess > 0 && entry.holding.isUnseen {
        excess -= entry.holding.byteCount
        if entry.holding.isUnseen { unseenExcess -= entry.holding.byteCount }
        // Until it notes the bytes that it could not free.
        state.entries[key]?.holding.byteCount = 0
        if let store = entry.store { released.append(store) }
      }
      return released
    }
    for store in released { store.release() }
  }

  /// Notes what an animation holds, and frees nothing: for an animation that frees, which is never asked to free again.
  ///
  /// Threads may call in another order than that in which they looked, so an older holding changes nothing.
  func note(_ store: FrameStore, _ holding: Holding) {
    state.withLock { state in
      let key = ObjectIdentifier(store)
      guard holding.version > state.entries[key]?.holding.version ?? 0 else { return }
      state.uses += 1
      state.entries[key] = Entry(store: store, holding: holding, lastUse: state.uses)
    }
  }

  /// Forgets an animation that is gone.
  func remove(_ key: ObjectIdentifier) { state.withLock { _ = $0.entries.removeValue(forKey: key) } }

  private func shrink() {
    let until = time.uptime + Self.recovery
    let stores = state.withLock { state in
      state.scarceUntil = until
      return state.entries.values.compactMap(\.store)
    }
    for store in stores { store.release() }
  }
}
