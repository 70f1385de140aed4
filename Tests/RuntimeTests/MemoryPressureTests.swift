import Testing
import VitrineRuntime
import VitrineTestSupport

#if os(Linux)
struct MemoryPressureTests {
  private func folder(_ files: [String: String]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for (path, text) in files { try folder.write(Data(text.utf8), to: path) }
    return folder
  }

  @Test
  func usageIsThatOfTheGroupWithoutItsFilesAndOfTheMachine() throws {
    let root = try folder([
      "cgroup/app/memory.current": "900\n",
      "cgroup/app/memory.max": "1000\n",
      "cgroup/app/memory.stat": "anon 500\ninactive_file 300\n",
      "cgroup/app/memory.events": "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\n",
      "proc/meminfo": "MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    400 kB\n",
    ])
    func usage(_ membership: String) -> MemoryPressureFiles.Usage {
      let groups = root.file("cgroup").path
      return MemoryPressureFiles(root: groups, membership: membership, proc: root.file("proc").path)
        .readUsage()
    }
    var expected = MemoryPressureFiles.Usage()
    (expected.total, expected.available) = (1000 << 10, 400 << 10)
    #expect(usage("0::/elsewhere\n") == expected)
    #expect(usage("nonsense\n") == expected)
    (expected.used, expected.limit, expected.high, expected.max) = (600, 1000, 2, 7)
    #expect(usage("0::/app\n") == expected)
  }

  @Test
  func aGroupOfTheFirstVersionCountsWhereThereIsNoOther() throws {
    let root = try folder([
      "memory/app/memory.usage_in_bytes": "900\n",
      "memory/app/memory.limit_in_bytes": "1000\n",
      "memory/app/memory.stat": "total_inactive_file 100\n",
    ])
    let files = MemoryPressureFiles(root: root.path, membership: "4:memory:/app\n0::/\n", proc: "/nowhere")
    var usage = files.readUsage()
    #expect((usage.used, usage.limit) == (800, 1000))
    // It tells of nothing, so it is looked at, unless it is as large as the machine.
    #expect(files.hasSilentLimit(usage))
    usage.total = 1000
    #expect(!files.hasSilentLimit(usage))
  }

  @Test
  func pressureIsGradedByWhatWokeUsAndWhatChanged() {
    typealias Usage = MemoryPressureFiles.Usage
    func pressure(_ woken: [MemoryPressure?] = [], _ change: (inout Usage) -> Void = { _ in }) -> MemoryPressure? {
      var (before, now) = (Usage(), Usage())
      (before.high, before.max) = (3, 1)
      (now.high, now.max) = (3, 1)
      change(&now)
      return MemoryPressureFiles.pressure(woken: woken, before: before, now: now)
    }
    #expect(pressure() == nil)
    #expect(pressure([nil]) == nil)
    #expect(pressure([.low]) == .low)
    #expect(pressure([.low, .critical]) == .critical)
    #expect(pressure([nil]) { $0.high = 4 } == .low)
    #expect(pressure([nil]) { $0.max = 2 } == .critical)
    #expect(pressure([.low]) { $0.max = 2 } == .critical)
    #expect(pressure { ($0.limit, $0.used) = (1000, 850) } == nil)
    #expect(pressure { ($0.limit, $0.used) = (1000, 950) } == .low)
    #expect(pressure { ($0.limit, $0.used) = (1000, 990) } == .critical)
    #expect(pressure { ($0.total, $0.available) = (1000, 50) } == .low)
    #expect(pressure { ($0.total, $0.available) = (1000, 5) } == .critical)
    // A limit that is none, as "max" is, and one of nothing.
    #expect(pressure { $0.used = 1 << 40 } == nil)
    #expect(pressure { ($0.limit, $0.used) = (0, 1) } == nil)
  }
}
#endif

struct MemoryPressureObserverTests {
  @Test
  func onlyThoseAreToldWhoStillObserve() {
    let observers = MemoryPressureObservers()
    let told = Lock<[String]>([])
    var first: MemoryPressureObservation? = observers.add { pressure in told.withLock { $0.append("first \(pressure)") }
    }
    let second = observers.add { pressure in told.withLock { $0.append("second \(pressure)") } }
    #expect(first != nil)
    observers.tell(.low)
    #expect(told.withLock { $0.sorted() } == ["first low", "second low"])
    first = nil
    told.withLock { $0 = [] }
    observers.tell(.critical)
    #expect(told.withLock { $0 } == ["second critical"])
    withExtendedLifetime(second) {}
  }

  @Test
  func anObserverMayEndItsObservationWhileItIsTold() {
    let observers = MemoryPressureObservers()
    let observation = Lock<MemoryPressureObservation?>(nil)
    let made = observers.add { _ in
      let ended = observation.withLock { held in
        defer { held = nil }
        return held
      }
      withExtendedLifetime(ended) {}
    }
    observation.withLock { $0 = made }
    observers.tell(.low)
    #expect(observation.withLock { $0 == nil })
  }

  @Test
  func theSystemIsObservedByOneThreadHoweverManyAsk() {
    func threadCount() -> Int {
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
      let names = threads.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
      return names.count { $0 == "vitrine-memory\n" }
    }
    let before = threadCount()
    let watcher = MemoryPressureWatcher()
    let observations = (0..<100).map { _ in watcher.observe { _ in } }
    #expect(threadCount() <= before + 1)
    withExtendedLifetime(observations) {}
  }
}
