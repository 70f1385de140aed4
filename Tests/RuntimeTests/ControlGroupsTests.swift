import Testing
import VitrineRuntime
import VitrineTestSupport

#if os(Linux)
struct ControlGroupsTests {
  private let root: TemporaryFolder

  init() throws { root = try TemporaryFolder() }

  private func groups(_ membership: String) -> ControlGroups { ControlGroups(root: root.path, membership: membership) }

  private func write(_ path: String, _ text: String) throws { try root.write(Data(text.utf8), to: path) }

  @Test
  func theLeastOfAGroupAndThoseAboveItCounts() throws {
    try write("a/memory.max", "500\n")
    try write("a/b/memory.max", "max\n")
    try write("a/b/c/memory.max", "700\n")
    #expect(groups("0::/a/b/c\n").memory == 500)
    #expect(groups("0::/other\n").memory == nil)
  }

  @Test
  func groupsOfTheFirstVersionCountToo() throws {
    try write("memory/a/memory.limit_in_bytes", "300\n")
    try write("memory/memory.limit_in_bytes", "9223372036854771712\n")
    let membership = "5:cpu,cpuacct:/x\n4:memory:/a\n0::/\n"
    #expect(groups(membership).memory == 300)
  }

  @Test
  func theLeastShareOfProcessorsCounts() throws {
    try write("cpu.max", "max 100000\n")
    try write("a/cpu.max", "150000 100000\n")
    try write("a/b/cpu.max", "400000 100000\n")
    #expect(groups("0::/a/b\n").processors == 1.5)
    #expect(groups("0::/\n").processors == nil)
  }

  @Test
  func sharesOfTheFirstVersionCountToo() throws {
    try write("cpu/cpu.cfs_quota_us", "-1\n")
    try write("cpu/cpu.cfs_period_us", "100000\n")
    try write("cpu/a/cpu.cfs_quota_us", "50000\n")
    try write("cpu/a/cpu.cfs_period_us", "100000\n")
    #expect(groups("3:cpu,cpuacct:/a\n").processors == 0.5)
    #expect(groups("3:cpu,cpuacct:/\n").processors == nil)
  }

  @Test
  func nonsenseIsNoShare() throws {
    try write("cpu.max", "0 0\n")
    #expect(groups("0::/\n").processors == nil)
    #expect(CoreBudget.machine.count >= 1)
  }

  @Test
  func withoutGroupsThereIsNoLimit() {
    #expect(groups("0::/\n").memory == nil)
    #expect(groups("nonsense").memory == nil)
  }

  @Test
  func aMachineHasMemory() {
    #expect(MemoryLimit.bytes > 1 << 20)
  }
}
#endif
