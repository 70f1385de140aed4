import Testing
import VitrineRuntime

#if os(Linux)
/// A queue's threads yield to the others of the program, and to nobody else's.
struct NicenessTests {
  private static func niceness() -> Int? {
    // The fields behind the name in parentheses; the nice value is field 19 (proc(5)).
    let line = try? String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)
    return line?.split(separator: ")").last?.split(separator: " ").dropFirst(16).first.flatMap { Int($0) }
  }

  @Test(arguments: [0, 5] as [CInt])
  func onlyTheThreadsOfTheQueueYield(niceness: CInt) async throws {
    let own = try #require(Self.niceness())
    let queue = WorkQueue(label: "nice", width: 1, niceness: niceness)

    let found = try await queue.run { _ in Self.niceness() }

    #expect(found == min(19, own + Int(niceness)))
    #expect(Self.niceness() == own)
  }
}
#endif
