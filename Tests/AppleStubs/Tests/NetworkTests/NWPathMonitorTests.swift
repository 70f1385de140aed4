import Dispatch
import Network
import Testing

/// The path is one for the whole program, so the tests run one by one.
@Suite(.serialized)
struct NetworkTests {
  private let wifi = NWPath()
  private let cellular = NWPath(
    _interfaces: [NWInterface(_type: .cellular, _name: "pdp_ip0", _index: 2)],
    _isExpensive: true,
    _isConstrained: true,
  )
  private let offline = NWPath(_status: .unsatisfied, _interfaces: [])

  init() { NWPathMonitor._setPath(NWPath()) }

  /// Starts a monitor, and returns the paths that it tells on its queue.
  private func paths(of monitor: NWPathMonitor) -> AsyncStream<NWPath> {
    let (stream, continuation) = AsyncStream.makeStream(of: NWPath.self)
    let queue = DispatchQueue(label: "monitor")
    monitor.pathUpdateHandler = { path in
      dispatchPrecondition(condition: .onQueue(queue))
      continuation.yield(path)
    }
    monitor.start(queue: queue)
    return stream
  }

  @Test
  func aStartedMonitorTellsTheFirstPathAndChanges() async {
    let monitor = NWPathMonitor()
    #expect(monitor.currentPath.status == .unsatisfied)
    var paths = paths(of: monitor).makeAsyncIterator()
    #expect(await paths.next() == wifi)
    #expect(monitor.currentPath == wifi)
    NWPathMonitor._setPath(wifi)
    NWPathMonitor._setPath(cellular)
    let second = await paths.next()
    #expect(second == cellular, "the same path is not told twice")
    #expect(second?.isExpensive == true)
    #expect(second?.isConstrained == true)
    #expect(second?.usesInterfaceType(.cellular) == true)
    #expect(second?.usesInterfaceType(.wifi) == false)
    NWPathMonitor._setPath(offline)
    #expect(await paths.next()?.status == .unsatisfied)
    monitor.cancel()
  }

  @Test
  func aMonitorOfOneInterfaceSeesNothingElse() async {
    let monitor = NWPathMonitor(requiredInterfaceType: .wifi)
    var paths = paths(of: monitor).makeAsyncIterator()
    #expect(await paths.next()?.status == .satisfied)
    NWPathMonitor._setPath(cellular)
    #expect(await paths.next()?.status == .unsatisfied)
    monitor.cancel()
    let other = NWPathMonitor(prohibitedInterfaceTypes: [.cellular])
    var others = self.paths(of: other).makeAsyncIterator()
    #expect(await others.next()?.status == .unsatisfied)
  }

  @Test
  func aCancelledMonitorTellsNothing() async {
    let monitor = NWPathMonitor()
    let queue = DispatchQueue(label: "cancelled")
    queue.suspend()
    monitor.pathUpdateHandler = { _ in Issue.record("told after the end") }
    monitor.start(queue: queue)
    monitor.cancel()
    NWPathMonitor._setPath(cellular)
    queue.resume()
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }

  @Test
  func aMonitorIsASequence() async {
    let monitor = NWPathMonitor()
    var seen: [NWPath.Status] = []
    for await path in monitor {
      seen.append(path.status)
      if seen.count == 1 { NWPathMonitor._setPath(offline) } else { monitor.cancel() }
    }
    #expect(seen == [.satisfied, .unsatisfied])
  }

  @Test
  func aReleasedMonitorIsForgotten() async {
    var monitor: NWPathMonitor? = NWPathMonitor()
    weak let weakMonitor = monitor
    if let monitor {
      var paths = paths(of: monitor).makeAsyncIterator()
      _ = await paths.next()
      await withCheckedContinuation { continuation in monitor.queue?.async { continuation.resume() } }
    }
    monitor = nil
    #expect(weakMonitor == nil)
  }
}
