import Testing
import VitrineConfinement
import VitrineRuntime
import VitrineTestSupport

/// A process that confines itself as those that decode do, and is then taken over.
struct ConfinementTests {
  /// The end of a process: what it printed, and the signal that ended it; 0 for none.
  struct End: Equatable, CustomTestStringConvertible {
    var output: String
    var signal: Int32 = 0

    var testDescription: String { "\(output), signal \(signal)" }

    static let killed = End(output: "", signal: SIGSYS)
    static let done = End(output: "done")

    static func refused(_ error: Int32) -> End { End(output: "\(error)") }
  }

  /// Runs the program of the tests with arguments that have no special characters.
  static func run(_ arguments: String...) throws -> End {
    let rogue = try #require(BuiltProgram.path("rogue"))
    // The shell becomes the program, whose status this is.
    let command = "exec '\(rogue)' \(arguments.map { "'\($0)'" }.joined(separator: " ")) </proc/self/status"
    guard let stream = unsafe popen(command, "r") else { throw POSIXError(.EMFILE) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    // At most as many bytes as there are.
    let count = unsafe fread(&bytes, 1, bytes.count, stream)
    let status = unsafe pclose(stream)
    return End(output: String(decoding: bytes[..<count], as: UTF8.self), signal: status & 0x7F)
  }

  /// The layers of this system; the tests of a layer that it lacks are left out.
  static let layers: Set<String> = Set(((try? run("layers"))?.output ?? "").split(separator: " ").map(String.init))

  static var hasSeccomp: Bool { layers.contains("seccomp") }
  static var hasLandlock: Bool { layers.contains("landlock") }

  @Test
  func layersThatNeedNoSupportByTheSystemAreThere() {
    #expect(Self.layers.isSuperset(of: ["descriptors", "limits", "privileges"]), "\(Self.layers)")
  }

  @Test
  func noCapabilityIsLeft() throws {
    #expect(try Self.run("rights").output == "CapPrm:\t0000000000000000 CapEff:\t0000000000000000")
  }

  @Test(.enabled(if: hasSeccomp), arguments: ["socket", "fork", "exec", "signal"], ["-", "--fonts"])
  func whatOnlyAnAttackerDoesEndsTheProcess(action: String, fonts: String) throws {
    #expect(try Self.run(action, "-", fonts) == .killed)
  }

  @Test(.enabled(if: hasSeccomp))
  func newCodeIsRefused() throws {
    #expect(try Self.run("code") == .refused(EPERM))
    #expect(try Self.run("memory") == .done)
  }

  @Test(.enabled(if: hasSeccomp))
  func threadsAndMemoryAreThereForDecoders() throws {
    #expect(try Self.run("thread") == .done)
    #expect(try Self.run("memory") == .done)
  }

  @Test(.enabled(if: hasSeccomp))
  func abortingIsPossible() throws {
    #expect(try Self.run("abort").signal == SIGABRT)
  }

  @Test(
    .enabled(if: hasSeccomp),
    arguments: [
      ["read", "/etc/passwd"], ["read", "/etc/fonts/fonts.conf"], ["read", "/proc/self/maps"], ["read", "/dev/zero"],
      ["write", "/tmp/vitrine-rogue"], ["list", "/"], ["status", "/etc/passwd"], ["remove", "/tmp/vitrine-rogue"],
    ],
  )
  func filesAreRefused(action: [String]) throws {
    #expect(try Self.run(action[0], action[1]) == .refused(EPERM))
  }

  @Test(
    .enabled(if: hasSeccomp && hasLandlock),
    arguments: [
      ["read", "/etc/passwd"], ["read", "/proc/self/maps"], ["read", "/usr/share/fonts/../../../etc/passwd"],
      ["list", "/"], ["list", "/usr/share"],
    ],
  )
  func fontsAreAllThatIsRead(action: [String]) throws {
    #expect(try Self.run(action[0], action[1], "--fonts") == .refused(EACCES))
  }

  @Test(.enabled(if: hasSeccomp && hasLandlock))
  func fontsAreReadAndNotWritten() throws {
    let configuration = "/etc/fonts/fonts.conf"
    try #require(unsafe access(configuration, R_OK) == 0)

    #expect(try Self.run("read", configuration, "--fonts") == .done)
    #expect(try Self.run("read", configuration) == .refused(EPERM))
    #expect(try Self.run("write", configuration, "--fonts") == .refused(EPERM))
    #expect(try Self.run("write", "/etc/fonts/vitrine-rogue", "--fonts") == .refused(EPERM))
  }

  @Test
  func limitsAreNotRaised() throws {
    #expect(try Self.run("raise limits").output == "\(EPERM)")
  }
}
