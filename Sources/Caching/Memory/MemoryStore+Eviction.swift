/// The cost and the number of entries that may stay.
struct EvictionGoal: Sendable {
  var cost: Int
  var count: Int
}

/// Chooses the entries to evict with the lock held, and empties their places.
extension MemoryStore {
  /// Returns the steps of an eviction, in order.
  ///
  /// Each applies only if the one before did not free enough.
  static func steps(to limits: Limits) -> [EvictionStep] {
    let goal = limits.goal
    var steps = [false, true].map { EvictionStep(goal: goal, reason: .limit, includesHeld: $0) }
    // Down to 95 %, sparing held entries and the newcomer. The other steps go no further than the limits demand.
    if limits.cost > 0, limits.count > 0 {
      let ample = EvictionGoal(cost: goal.cost - goal.cost / 20, count: goal.count - goal.count / 20)
      steps.insert(EvictionStep(goal: ample, reason: .limit, sparesNewcomer: true, includesHeld: false), at: 0)
    }
    return steps
  }

  /// Returns the entries that a step may choose among.
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

  /// Evicts entries that are not held, then held ones if that is not enough.
  ///
  /// A custom policy does so in its turn.
  func trim(_ state: inout State, to goal: EvictionGoal, _ reason: Reason) -> [Entry] {
    let steps = [false, true].map { EvictionStep(goal: goal, reason: reason, includesHeld: $0) }
    guard isPolicyOwn else {
      state.turns.steps += steps
      return []
    }
    return steps.flatMap { evict(&state, $0, newcomer: nil, policy) }
  }

  /// Evicts the policy's victims, then the least recently used.
  ///
  /// Calls the policy with the lock held.
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

/// One step of an eviction: a goal, and the entries to spare.
struct EvictionStep: Sendable {
  var goal: EvictionGoal
  var reason: MemoryStore.Reason
  var sparesNewcomer = false
  var includesHeld: Bool

  /// Ignores a limit that is not exceeded, so that reaching the other one evicts no more than needed.
  func narrowed(to state: borrowing MemoryStore.State) -> EvictionStep {
    guard sparesNewcomer else { return self }
    var step = self
    let excess = state.excess(state.limits.goal)
    if excess.cost == 0 { step.goal.cost = .max }
    if excess.count == 0 { step.goal.count = .max }
    return step
  }
}
