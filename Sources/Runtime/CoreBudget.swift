/// The cores that concurrent work shares: each piece of work takes one, and may borrow idle ones.
///
/// A second thread makes one image appear sooner, and costs throughput while other images could have its core. So a
/// codec uses as many threads as there are idle cores when it begins: all for a lone image, none in a batch.
///
/// Work never waits for a core: if all are lent, it takes one more, until a loan ends.
package final class CoreBudget: Sendable {
  /// The budget of the cores that this process may use.
  ///
  /// On Linux these are the ones of its affinity, and no more than a control group gives it time for, rounded up: of a
  /// container with `--cpus=1.5`, two.
  package static let machine: CoreBudget = {
    #if os(Linux)
    let count = allowedCount(status: FileContents.text(at: "/proc/self/status") ?? "")
    let share = ControlGroups.own.processors.map { Int($0.rounded(.up)) } ?? .max
    return CoreBudget(count: min(count ?? ProcessInfo.processInfo.activeProcessorCount, share))
    #else
    return CoreBudget(count: ProcessInfo.processInfo.activeProcessorCount)
    #endif
  }()

  /// The number of processors that a process may run on, by the mask in its `status` (proc(5)); `nil` if there is none.
  ///
  /// `ProcessInfo` opens more files, and has taken 3 % of the time of a small thumbnail.
  package static func allowedCount(status: String) -> Int? {
    let name = "Cpus_allowed:"
    guard let mask = status.split(separator: "\n").first(where: { $0.hasPrefix(name) })?.dropFirst(name.count) else {
      return nil
    }
    let count = mask.reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
    return count > 0 ? count : nil
  }

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
