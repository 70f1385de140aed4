import Testing
import VitrineRuntime
import VitrineTestSupport

#if os(Linux)
struct MemoryLimitTests {
  private let root: TemporaryFolder

  init() throws { root = try TemporaryFolder() }

  private func write(_ path: String, _ text: String) throws { try root.write(Data(text.utf8), to: path) }

  @Test
  func theLeastOfAGroupAndThoseAboveItCounts() throws {
    try write("a/memory.max", "500\n")
    try write("a/b/memory.max", "max\n")
    try write("a/b/c/memory.max", "700\n")
    #expect(MemoryLimit.groups(root: root.path, membership: "0::/a/b/c\n") == 500)
    #expect(MemoryLimit.groups(root: root.path, membership: "0::/other\n") == nil)
  }

  @Test
  func groupsOfTheFirstVersionCountToo() throws {
    try write("memory/a/memory.limit_in_bytes", "300\n")
    try write("memory/memory.limit_in_bytes", "9223372036854771712\n")
    let membership = "5:cpu,cpuacct:/x\n4:memory:/a\n0::/\n"
    #expect(MemoryLimit.groups(root: root.path, membership: membership) == 300)
  }

  @Test
  func withoutGroupsThereIsNoLimit() {
    #expect(MemoryLimit.groups(root: root.path, membership: "0::/\n") == nil)
    #expect(MemoryLimit.groups(root: root.path, membership: "nonsense") == nil)
  }

  @Test
  func aMachineHasMemory() {
    #expect(MemoryLimit.bytes > 1 << 20)
  }
}
#endif
