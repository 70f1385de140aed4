/// How much may stay when something has to leave.
struct EvictionGoal: Sendable {
  var cost: Int
  var count: Int
}

/// Chooses what leaves, with the lock held, and empties its places.
extension MemoryStore {
  /// The goals one after the other, the first with what it spares; the next is for what that left too much.
  static func steps(to limits: Limits) -> [EvictionStep] {
    let goal = limits.goal
    var steps = [false, true].map { EvictionStep(goal: goal, reason: .limit, includesHeld: $0) }
    // Down to 95 %, of what nobody looks at and has not just come; beyond that only as far as the limits demand.
    if limits.cost > 0, limits.count > 0 {
      let ample = EvictionGoal(cost: goal.cost - goal.cost / 20, count: goal.count - goal.count / 20)
      steps.insert(EvictionStep(goal: ample, reason: .limit, sparesNewcomer: true, includesHeld: false), at: 0)
    }
    return steps
  }

  /// The entries that a step may choose among.
  func candidates(_ state: borrowing State, _ step: EvictionStep, newcomer: Int?) -> EvictionCandidates {
    EvictionCandidates(state.places, now: now(), except: newcomer, includesHeld: step.includesHeld)
  }

  func enforceLimits(_ state: inout State, newcomer: Int?) -> [Entry] {
    guard state.excess(state.limits.goal) != (0, 0) else { return [] }
    var left: [Entry] = []
    for step in Self.steps(to: state.limits) {
      left += evict(&state, step.narrowed(to: state), newcomer: step.sparesNewcomer ? newcomer : nil, policy)
    }
    return left
  }

  /// Evicts what is not held, and where that does not do, what is; a policy of anybody's is asked in its turn.
  func trim(_ state: inout State, to goal: EvictionGoal, _ reason: Reason) -> [Entry] {
    let steps = [false, true].map { EvictionStep(goal: goal, reason: reason, includesHeld: $0) }
    guard isPolicyOwn else {
      state.turns.steps += steps
      return []
    }
    return steps.flatMap { evict(&state, $0, newcomer: nil, policy) }
  }

  /// Evicts what a policy says, which is called with the lock held, and then what was not used for longest.
  func evict(
    _ state: inout State,
    _ step: EvictionStep,
    newcomer: Int?,
    _ policy: any EvictionPolicy,
  ) -> [Entry] {
    guard state.excess(step.goal) != (0, 0) else { return [] }
    let candidates = self.candidates(state, step, newcomer: newcomer)
    var left: [Entry] = []
    for policy in [policy, LeastRecentlyUsedEviction()] as [any EvictionPolicy] {
      let excess = state.excess(step.goal)
      guard excess != (0, 0) else { break }
      for place in policy.victims(freeing: excess.cost, count: excess.count, among: candidates) {
        guard state.excess(step.goal) != (0, 0) else { break }
        guard candidates.numbers.contains(place), candidates[place]?.isEvictable == true else { continue }
        if let entry = empty(place, step.reason, &state) { left.append(entry) }
      }
    }
    return left
  }
}

/// A goal, and what leaves until it is reached.
struct EvictionStep: Sendable {
  var goal: EvictionGoal
  var reason: MemoryStore.Reason
  var sparesNewcomer = false
  var includesHeld: Bool

  /// Where only one of the limits is exceeded, more than that demands of the other is no goal.
  func narrowed(to state: borrowing MemoryStore.State) -> EvictionStep {
    guard sparesNewcomer else { return self }
    var step = self
    let excess = state.excess(state.limits.goal)
    if excess.cost == 0 { step.goal.cost = .max }
    if excess.count == 0 { step.goal.count = .max }
    return step
  }
}
