/// The cores that concurrent work shares: each piece of work takes one, and may borrow idle ones.
///
/// A second thread makes one image appear sooner, and costs throughput while other images could have its core. So a
/// codec uses as many threads as there are idle cores when it begins: all for a lone image, none in a batch.
///
/// Work never waits for a core: if all are lent, it takes one more, until a loan ends.
package final class CoreBudget: Sendable {
  /// The budget of this machine's active cores.
  package static let machine = CoreBudget(count: ProcessInfo.processInfo.activeProcessorCount)

  /// The number of cores, at least 1.
  package let count: Int
  private let used = Lock(0)

  /// Creates a budget.
  package init(count: Int) { self.count = max(1, count) }

  /// The number of cores that are taken or lent.
  ///
  /// It exceeds ``count`` while more pieces of work run than there are cores.
  package var usedCount: Int { used.withLock { $0 } }

  /// Takes a core for work on this thread, until ``CoreShare/leave()``.
  ///
  /// - Complexity: O(1).
  package func enter() -> CoreShare {
    used.withLock { $0 += 1 }
    return CoreShare(of: self)
  }

  /// Takes up to `count` idle cores, and returns how many.
  fileprivate func take(upTo count: Int) -> Int {
    used.withLock { used in
      let taken = max(0, min(count, self.count - used))
      used += taken
      return taken
    }
  }

  fileprivate func giveBack(_ count: Int) { used.withLock { $0 -= count } }
}

/// The cores of one piece of work.
package final class CoreShare: Sendable {
  private let budget: CoreBudget
  private let held = Lock(1)

  fileprivate init(of budget: CoreBudget) { self.budget = budget }

  deinit { leave() }

  /// Borrows idle cores, so that this work has at most `count`.
  ///
  /// Never waits. They are given back by ``leave()``.
  ///
  /// - Returns: The number of cores that this work has now, at least 1.
  package func extend(to count: Int) -> Int {
    held.withLock { held in
      // Work that has left may not borrow more cores.
      if held > 0, count > held { held += budget.take(upTo: count - held) }
      return max(1, held)
    }
  }

  /// Gives back all cores; does nothing the second time.
  package func leave() {
    let count = held.withLock { held in
      defer { held = 0 }
      return held
    }
    if count > 0 { budget.giveBack(count) }
  }
}
