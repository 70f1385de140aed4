/// The pending work of a custom policy.
struct PolicyTurns {
  var notes = PolicyNotes()
  /// The evictions still due, in order.
  var steps: [EvictionStep] = []
  /// Set while a thread is calling the policy.
  var isTaken = false
}

/// Calls a custom policy without the lock, since it may call the cache, or block.
///
/// Changes are recorded in order with the lock held. One thread at a time takes turns: it reports the recorded changes
/// to the policy, then asks it for victims, until no change is left and the limits are kept. Other threads, and the
/// policy itself if it calls the cache, leave that work to this thread.
extension MemoryStore {
  private enum Turn {
    case tell([PolicyNotes.Note])
    case ask(EvictionStep, freeing: (cost: Int, count: Int), EvictionCandidates, ids: [UInt64])
  }

  /// The maximum number of turns in a row.
  ///
  /// A policy that changes the cache at every report would keep the thread forever. The rest is reported at the next
  /// change.
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

  /// Returns the next turn, or `nil` if nothing is left, which ends the turns.
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

  /// Evicts the policy's victims that are still valid, then the least recently used.
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
        // A policy may return any number, and its candidates may have left or be held by now.
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

  /// Returns the place of the latest entry if the step spares it.
  private func newcomer(_ step: EvictionStep, _ state: borrowing State) -> Int? {
    guard step.sparesNewcomer else { return nil }
    let places = state.places
    let generation = state.generation
    return (0..<places.count).first { places.generation($0) == generation }
  }

  /// Evicts without the policy if other threads exceed the limits by an eighth while it takes its time.
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
  /// A Boolean value that indicates whether a custom policy has work that no thread is doing.
  var isTurnDue: Bool {
    !turns.isTaken && (!turns.notes.isEmpty || !turns.steps.isEmpty || excess(limits.goal) != (0, 0))
  }
}
