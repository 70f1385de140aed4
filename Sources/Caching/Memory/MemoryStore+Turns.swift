/// What is left to do with a policy of anybody's.
struct PolicyTurns {
  var notes = PolicyNotes()
  /// What has to leave, one goal after the other.
  var steps: [EvictionStep] = []
  /// Whether some thread tells and asks the policy.
  var isTaken = false
}

/// Calls a policy of anybody's with the lock open: whatever it does, it may call the cache, and block.
///
/// What happens is noted in order with the lock held. One thread at a time takes the turns: it tells the policy what was noted,
/// then asks it what leaves, until nothing is noted and the limits are kept. Others, and the policy itself when it calls the cache,
/// leave that to the one who is at it.
extension MemoryStore {
  private enum Turn {
    case tell([PolicyNotes.Note])
    case ask(EvictionStep, freeing: (cost: Int, count: Int), EvictionCandidates, ids: [UInt64])
  }

  /// The number of turns after which whoever takes them goes back to work.
  ///
  /// A policy that changes the cache whenever it hears of a change would keep that thread for ever. What is noted by then is
  /// told when the cache is changed next.
  private static let turnLimit = 32

  func takeTurns() {
    guard begin() else { return }
    for _ in 0..<Self.turnLimit {
      guard let turn = nextTurn() else { return }
      switch turn {
      case .tell(let notes):
        for note in notes {
          switch note {
          case .insert(let entry, let place): policy.insert(entry, into: place)
          case .remove(let place): policy.remove(place)
          }
        }
      case .ask(let step, let excess, let candidates, let ids):
        let victims = policy.victims(freeing: excess.cost, count: excess.count, among: candidates)
        let left = carryOut(step, victims, candidates, ids)
        _ = consume left
      }
    }
    let left = changing { state in
      let steps = state.turns.steps
      (state.turns.steps, state.turns.isTaken) = ([], false)
      return evictWithoutPolicy(&state, steps + Self.steps(to: state.limits))
    }
    _ = consume left
  }

  private func begin() -> Bool {
    changing { state in
      defer { state.turns.isTaken = true }
      return !state.turns.isTaken
    }
  }

  /// Says what to do next; `nil` if there is nothing, and then the turns are over.
  private func nextTurn() -> Turn? {
    changing { state in
      if !state.turns.notes.isEmpty { return .tell(state.turns.notes.takeAll()) }
      if state.turns.steps.isEmpty, state.excess(state.limits.goal) != (0, 0) {
        state.turns.steps = Self.steps(to: state.limits).map { $0.narrowed(to: state) }
      }
      while let step = state.turns.steps.first {
        state.turns.steps.removeFirst()
        let excess = state.excess(step.goal)
        guard excess != (0, 0) else { continue }
        let candidates = self.candidates(state, step, newcomer: newcomer(step, state)).copied()
        let ids = (0..<state.places.count).map { state.places.generation($0) }
        return .ask(step, freeing: excess, candidates, ids: ids)
      }
      state.turns.isTaken = false
      return nil
    }
  }

  /// Evicts what the policy named, as far as it is what it was asked about, and then what was not used for longest.
  private func carryOut(
    _ step: EvictionStep,
    _ victims: [Int],
    _ candidates: EvictionCandidates,
    _ ids: [UInt64],
  ) -> [Entry] {
    changing { state in
      var left: [Entry] = []
      for place in victims {
        guard state.excess(step.goal) != (0, 0) else { break }
        // It may name anything, and what it was asked about may have gone or be held meanwhile.
        guard candidates.numbers.contains(place), candidates[place]?.isEvictable == true,
          state.places.generation(place) == ids[place], step.includesHeld || !state.places.isHeld(place)
        else { continue }
        if let entry = empty(place, step.reason, &state) { left.append(entry) }
      }
      return left + evictWithoutPolicy(&state, [step])
    }
  }

  private func evictWithoutPolicy(_ state: inout State, _ steps: [EvictionStep]) -> [Entry] {
    steps.flatMap { step in
      evict(&state, step.narrowed(to: state), newcomer: newcomer(step, state), LeastRecentlyUsedEviction())
    }
  }

  /// Where the latest entry is, for a step that spares it.
  private func newcomer(_ step: EvictionStep, _ state: borrowing State) -> Int? {
    guard step.sparesNewcomer else { return nil }
    let places = state.places
    let generation = state.generation
    return (0..<places.count).first { places.generation($0) == generation }
  }

  /// Evicts, without the policy, what others have stored by now while it takes its time.
  func keepOverrunSmall(_ state: inout State) -> [Entry] {
    let limit = state.limits.goal
    let bound = EvictionGoal(cost: limit.cost + limit.cost / 8, count: limit.count &+ limit.count / 8)
    guard state.turns.isTaken, state.cost > bound.cost || (bound.count > 0 && state.index.count > bound.count) else {
      return []
    }
    return evictWithoutPolicy(&state, Self.steps(to: state.limits))
  }
}

extension MemoryStore.State {
  /// Whether a policy of anybody's has something to hear or to say, and nobody is at it.
  var isTurnDue: Bool {
    !turns.isTaken && (!turns.notes.isEmpty || !turns.steps.isEmpty || excess(limits.goal) != (0, 0))
  }
}
