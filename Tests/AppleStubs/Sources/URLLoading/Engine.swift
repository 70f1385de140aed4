import Foundation
import Synchronization

/// The connections of a session and the tasks that wait for them.
///
/// A lane is a thread with at most one connection to one host. It works for one task at a time. It ends when its
/// connection is gone and no task waits.
final class Engine: Sendable {
  /// Where a started task is.
  private enum Place {
    case waiting(Origin)
    case working(Lane)
    case gone
  }

  private struct Host {
    var waiting: [Job] = []
    var idle: [Lane] = []
    var lanes = 0
  }

  private struct State {
    var places: [Int: Place] = [:]
    var hosts: [Origin: Host] = [:]
    var assigned: [ObjectIdentifier: Job] = [:]
    var isClosed = false
  }

  /// What a lane does next.
  enum Next {
    case work(Job)
    case idle
    case end
  }

  private let limit: Int
  private let state = Mutex(State())

  init(connectionsPerHost: Int) {
    limit = max(1, connectionsPerHost)
  }

  /// Looks at a task whose state changed.
  func poke(_ task: URLSessionTask, _ job: () -> Job?) {
    let control = task.control
    let id = task.taskIdentifier
    let (isNew, lane) = state.withLock { state -> (Bool, Lane?) in
      switch state.places[id] {
      case .working(let lane): return (false, lane)
      case .waiting, .gone: return (false, nil)
      case nil:
        // A new task that stays suspended is left alone.
        guard control.isCancelled || !control.isSuspended, !task.isCompleted else {
          return (false, nil)
        }
        state.places[id] = .gone
        return (true, nil)
      }
    }
    lane?.waker.wake()
    if isNew, control.isCancelled {
      task.session?.complete(task, [], Failure(.cancelled))
    } else if isNew {
      if let job = job() { enqueue(job) }
    } else if lane == nil {
      review(id)
    }
  }

  /// Puts a job into its host's queue.
  func enqueue(_ job: Job) {
    let lanes = state.withLock { state in
      state.places[job.task.taskIdentifier] = .waiting(job.origin)
      state.hosts[job.origin, default: Host()].waiting.append(job)
      return pump(&state, job.origin)
    }
    for lane in lanes { lane.start() }
    // It may have been cancelled before it was in the queue.
    review(job.task.taskIdentifier)
  }

  /// Looks at a job in the queue whose task was cancelled or resumed.
  private func review(_ id: Int) {
    let (cancelled, lanes) = state.withLock { state -> (Job?, [Lane]) in
      guard case .waiting(let origin) = state.places[id] else { return (nil, []) }
      let index = state.hosts[origin]?.waiting.firstIndex { $0.task.taskIdentifier == id }
      if let index, let job = state.hosts[origin]?.waiting[index], job.task.control.isCancelled {
        state.hosts[origin]?.waiting.remove(at: index)
        state.places[id] = .gone
        return (job, [])
      }
      return (nil, pump(&state, origin))
    }
    cancelled.map { $0.session.complete($0.task, [], Failure(.cancelled)) }
    for lane in lanes { lane.start() }
  }

  /// Gives the jobs of a host to lanes, and returns the lanes to start.
  private func pump(_ state: inout State, _ origin: Origin) -> [Lane] {
    var started: [Lane] = []
    while let host = state.hosts[origin], !host.idle.isEmpty || host.lanes < limit,
      let job = take(&state, origin)
    {
      let lane: Lane
      if let idle = state.hosts[origin]?.idle.popLast() {
        lane = idle
        lane.waker.wake()
      } else {
        lane = Lane(origin, self)
        state.hosts[origin]?.lanes += 1
        started.append(lane)
      }
      state.assigned[ObjectIdentifier(lane)] = job
      state.places[job.task.taskIdentifier] = .working(lane)
    }
    return started
  }

  /// Takes the job of the highest priority out of the queue, the oldest first.
  private func take(_ state: inout State, _ origin: Origin) -> Job? {
    let waiting = state.hosts[origin]?.waiting ?? []
    let ready = waiting.indices.filter { !waiting[$0].task.control.isSuspended }
    let best = ready.max { left, right in
      let (first, second) = (waiting[left].task, waiting[right].task)
      let (low, high) = (first.priority, second.priority)
      return low != high ? low < high : first.taskIdentifier > second.taskIdentifier
    }
    return best.flatMap { state.hosts[origin]?.waiting.remove(at: $0) }
  }

  /// Says that a task completed, after which it is not started again.
  func forget(_ task: URLSessionTask) {
    state.withLock { $0.places[task.taskIdentifier] = nil }
  }

  // MARK: For lanes

  /// Says that a lane no longer works for a task.
  func leave(_ task: URLSessionTask) {
    state.withLock { $0.places[task.taskIdentifier] = .gone }
  }

  /// Says what a lane that did its work does next.
  func next(for lane: Lane, isConnected: Bool) -> Next {
    state.withLock { state in
      if let job = take(&state, lane.origin) {
        state.places[job.task.taskIdentifier] = .working(lane)
        return .work(job)
      }
      guard isConnected, !state.isClosed else { return .end }
      state.hosts[lane.origin]?.idle.append(lane)
      return .idle
    }
  }

  /// Says what an idle lane does that was woken, or whose connection ended.
  func nextWhileIdle(for lane: Lane, isConnected: Bool) -> Next {
    state.withLock { state in
      if let job = state.assigned.removeValue(forKey: ObjectIdentifier(lane)) { return .work(job) }
      guard state.isClosed || !isConnected else { return .idle }
      state.hosts[lane.origin]?.idle.removeAll { $0 === lane }
      return .end
    }
  }

  /// Says that a lane has closed its connection and ends.
  func ended(_ lane: Lane) {
    let lanes = state.withLock { state in
      state.hosts[lane.origin]?.lanes -= 1
      let lanes = pump(&state, lane.origin)
      if let host = state.hosts[lane.origin], host.lanes == 0, host.waiting.isEmpty {
        state.hosts[lane.origin] = nil
      }
      return lanes
    }
    for lane in lanes { lane.start() }
  }

  /// Ends all lanes as soon as they have no work.
  func close() {
    state.withLock { state in
      state.isClosed = true
      for host in state.hosts.values { for lane in host.idle { lane.waker.wake() } }
    }
  }
}
