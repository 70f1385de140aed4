import Vitrine

/// What happens to a slot, or to the loads of one of two requests.
enum SlotEvent: Equatable, CustomStringConvertible {
  case bind(String)
  case preview(String)
  /// The oldest load of a name that has not ended brings this version, or fails for `nil`, also if it was cancelled.
  case end(String, Int?)
  case hop
  case hide, show
  case reuse, cancel, retry
  /// Another slot has loaded the source of a name.
  case elsewhere(String)

  var description: String {
    switch self {
    case .bind(let name): "bind \(name)"
    case .preview(let name): "preview of \(name)"
    case .end(let name, let version): version.map { "\(name)\($0) comes" } ?? "\(name) fails"
    case .hop: "hop"
    case .hide: "hide"
    case .show: "show"
    case .reuse: "reuse"
    case .cancel: "cancel"
    case .retry: "retry"
    case .elsewhere(let name): "\(name) elsewhere"
    }
  }
}

/// How a slot is set up, and what is in memory at first.
struct SlotSetup: CustomStringConvertible {
  enum Memory: CaseIterable { case miss, fresh, stale }

  enum Stand: CaseIterable { case none, keepCurrent, symbol }

  var memory: [String: Memory] = [:]
  var stand = Stand.symbol
  var whenLeft = ImageSlot.Leaving.cancel

  var description: String {
    "A \(memory["A"] ?? .miss), B \(memory["B"] ?? .miss), placeholder \(stand), left: \(whenLeft)"
  }

  func placeholder(_ name: String) -> Placeholder {
    switch stand {
    case .none: .none
    case .keepCurrent: .keepCurrent
    case .symbol: .symbol(name)
    }
  }
}

/// What a slot has to do, said as simply as possible: no locks, no mailbox, one thing after another.
struct SlotModel {
  struct Load {
    let name: String
    /// The bind it was begun for.
    let bind: Int
    var isCancelled = false
    var isLowered = false
    var isEnded = false
    var preview = false
    var result: Int??
  }

  let setup: SlotSetup
  private(set) var loads: [Load] = []
  private(set) var screen = Seen.nothing
  private(set) var wanted: String?
  private var memory: [String: (version: Int, isStale: Bool)] = [:]
  private var isVisible = true
  private var bind = 0
  /// Counts binds and retries.
  private var attempt = 0
  private var hasFailed = false
  private var waitsForOthers = false
  private var isPending = false
  /// The load whose answer counts.
  private var current: Int?
  /// The bind whose image or preview is on the screen.
  private var screenBind: Int?
  private var posted: [Posted] = []

  private enum Posted: Equatable {
    case load(Int)
    /// A failed attempt to be made again.
    case attempt(Int)
  }

  init(_ setup: SlotSetup) {
    self.setup = setup
    for (name, state) in setup.memory where state != .miss { memory[name] = (1, state == .stale) }
  }

  mutating func apply(_ event: SlotEvent) {
    switch event {
    case .bind(let name): bind(to: name)
    case .preview(let name): note(name) { $0.preview = true }
    case .end(let name, let version):
      if let version, loads.contains(where: { $0.name == name && !$0.isEnded }) { memory[name] = (version, false) }
      note(name) {
        $0.result = .some(version)
        $0.isEnded = true
      }
    case .hop: hop()
    case .hide: hide()
    case .show: reveal()
    case .reuse:
      leaveCurrent()
      (wanted, isPending, screen, screenBind) = (nil, false, .nothing, nil)
    case .cancel:
      guard current != nil || isPending else { return }
      if let current, !loads[current].isEnded { loads[current].isCancelled = true }
      (current, wanted, isPending, screenBind) = (nil, nil, false, nil)
    case .retry:
      if let wanted, hasFailed { bind(to: wanted) }
    case .elsewhere(let name):
      guard name == wanted, hasFailed, waitsForOthers else { return }
      waitsForOthers = false
      posted.append(.attempt(attempt))
    }
  }

  private mutating func bind(to name: String) {
    let isAgain = name == wanted
    guard !isAgain || hasFailed else { return }
    let old = current
    current = nil
    if !isAgain { bind += 1 }
    attempt += 1
    (wanted, hasFailed, isPending) = (name, false, false)
    begin(isBind: true)
    if let old { leave(old) }
  }

  private mutating func begin(isBind: Bool) {
    guard let wanted else { return }
    if let hit = memory[wanted] {
      show(.image(wanted, hit.version, fades: false))
      guard hit.isStale else { return }
    } else if isBind, screenBind != bind {
      switch setup.stand {
      case .none: (screen, screenBind) = (.nothing, nil)
      case .keepCurrent: break
      case .symbol: (screen, screenBind) = (.placeholder(wanted), nil)
      }
    }
    guard isVisible else {
      isPending = true
      return
    }
    isPending = false
    loads.append(Load(name: wanted, bind: bind))
    current = loads.count - 1
  }

  /// The oldest load of a name that has not ended; only what happens to the current one is noted.
  private mutating func note(_ name: String, _ change: (inout Load) -> Void) {
    guard let index = loads.firstIndex(where: { $0.name == name && !$0.isEnded }) else { return }
    change(&loads[index])
    if index == current, !posted.contains(.load(index)) { posted.append(.load(index)) }
  }

  private mutating func hop() {
    let arrived = posted
    posted = []
    for arrival in arrived {
      switch arrival {
      case .attempt(attempt) where hasFailed && wanted != nil:
        hasFailed = false
        begin(isBind: false)
      case .load(let index) where index == current: receive(index)
      default: break
      }
    }
  }

  private mutating func receive(_ index: Int) {
    let load = loads[index]
    switch load.result {
    case nil:
      if case .image = screen { break }
      if case .preview = screen, screenBind != bind { break }
      show(.preview(load.name))
    case .some(.some(let version)):
      current = nil
      let replacesItself = screenBind == bind
      show(.image(load.name, version, fades: !replacesItself))
    case .some(nil):
      current = nil
      (hasFailed, waitsForOthers) = (true, true)
      if case .image = screen, screenBind == bind { break }
      (screen, screenBind) = (.failure(load.name), nil)
    }
  }

  /// Shows a picture of the current bind, unless it is the very same.
  private mutating func show(_ picture: Seen) {
    if screenBind == bind, case .image(_, let old, _) = screen, case .image(_, let new, _) = picture, old == new {
      return
    }
    (screen, screenBind) = (picture, bind)
  }

  private mutating func hide() {
    guard isVisible else { return }
    isVisible = false
    // What has ended is not cancelled: it is shown at the next hop.
    guard let index = current, !loads[index].isEnded else { return }
    switch setup.whenLeft {
    case .cancel:
      loads[index].isCancelled = true
      (current, isPending) = (nil, true)
    case .lower: loads[index].isLowered = true
    case .keepGoing: break
    }
  }

  private mutating func reveal() {
    guard !isVisible else { return }
    isVisible = true
    if let current, !loads[current].isEnded { loads[current].isLowered = false }
    if isPending { begin(isBind: false) }
  }

  private mutating func leaveCurrent() {
    if let current { leave(current) }
    current = nil
  }

  private mutating func leave(_ index: Int) {
    guard !loads[index].isEnded else { return }
    switch setup.whenLeft {
    case .cancel: loads[index].isCancelled = true
    case .lower: loads[index].isLowered = true
    case .keepGoing: break
    }
  }
}
