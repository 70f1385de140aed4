import Contest
import Foundation

/// The numbers of threads to measure.
let threadCounts = (ProcessInfo.processInfo.environment["THREADS"] ?? "1,2").split(separator: ",")
  .compactMap { Int($0) }.filter { $0 > 0 }

/// A cache that threads share, with what they do to the image of a number.
struct Peer: Sendable {
  let name: String
  let get: @Sendable (_ thread: Int, _ number: Int) -> Bool
  let set: @Sendable (_ thread: Int, _ number: Int) -> Void

  init(
    _ name: String,
    _ get: @escaping @Sendable (_ thread: Int, _ number: Int) -> Bool,
    _ set: @escaping @Sendable (_ thread: Int, _ number: Int) -> Void,
  ) {
    (self.name, self.get, self.set) = (name, get, set)
  }
}

/// The numbers that a thread asks for, and how often it stores instead.
private struct Load {
  let name: String
  /// Every tenth operation stores, or none.
  var stores = false
  let number: @Sendable (_ thread: Int, _ threads: Int, _ index: Int, _ entries: Int) -> Int

  static let all = [
    // Every second of two threads' keys, and so on.
    Load(name: "images of their own") { thread, threads, index, entries in
      let share = entries / threads
      return index % share * threads + thread
    },
    // All keys, from different starts.
    Load(name: "the same images") { thread, _, index, entries in (index + thread * 4999) % entries },
    Load(name: "the same images, a tenth of stores", stores: true) { thread, _, index, entries in
      (index + thread * 4999) % entries
    },
    Load(name: "one image") { _, _, _, _ in 0 },
  ]
}

/// Runs as many threads as ``threadCounts`` says at full speed, and prints their total throughput.
///
/// Threads with the same images also contend for reference counts, whatever the cache does.
func benchThreads(_ entries: Int, _ peers: [Peer], rounds: Int) {
  for load in Load.all {
    say("\n### \(entries) entries, \(load.name): operations a second by threads\n")
    say("| | " + threadCounts.map { "\($0)" }.joined(separator: " | ") + " |")
    say("|---|" + threadCounts.map { _ in "---:|" }.joined())
    for peer in peers {
      var rates = [[Double]](repeating: [], count: threadCounts.count)
      for _ in 0..<rounds {
        for (index, threads) in threadCounts.enumerated() {
          rates[index].append(rate(of: peer, load, threads: threads, entries: entries))
        }
      }
      let medians = rates.map(median)
      let cells = medians.map { "\(number($0 / 1e6)) M (\(number($0 / medians[0])))" }
      say("| \(peer.name) | " + cells.joined(separator: " | ") + " |")
    }
  }
}

/// The number of operations per second of wall time, of all threads together.
private func rate(of peer: Peer, _ load: Load, threads: Int, entries: Int) -> Double {
  let count = 200_000
  let group = DispatchGroup()
  let begin = DispatchTime.now().uptimeNanoseconds
  for thread in 0..<threads {
    group.enter()
    Thread.detachNewThread {
      for index in 0..<count {
        let number = load.number(thread, threads, index, entries)
        if load.stores, index % 10 == 9 {
          peer.set(thread, number)
        } else {
          precondition(peer.get(thread, number))
        }
      }
      group.leave()
    }
  }
  group.wait()
  return Double(threads * count) / Double(DispatchTime.now().uptimeNanoseconds - begin) * 1e9
}
