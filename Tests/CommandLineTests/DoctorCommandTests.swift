#if os(Linux)
import Foundation
import Testing
import VitrineImaging

struct DoctorCommandTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  /// Runs a script, in which `vitrine doctor --json` is called, and returns the checks by their names.
  private func checks(_ script: String) async throws -> (status: Int32, checks: [String: [String: Any]]) {
    let outcome = try await tool.shell(script)
    #expect(outcome.errors.isEmpty, "\(outcome.errors)")
    let lines = try outcome.json
    #expect(lines.allSatisfy { Set($0.keys) == ["check", "status", "detail", "package"] })
    let named = try lines.map { (try #require($0["check"] as? String), $0) }
    return (outcome.status, Dictionary(uniqueKeysWithValues: named))
  }

  /// A copy of the tool in the folder, without `vitrine-codecs` beside it.
  private let copy = #"{ ln "$vitrine" copy 2>/dev/null || cp "$vitrine" copy; }"#

  @Test
  func aWholeInstallationHasAll() async throws {
    let (status, checks) = try await checks(#""$vitrine" doctor --json"#)

    #expect(status == 0)
    let external = ImageFormat.external.map(\.name)
    let others = ["sandbox", "libcurl", "certificates", "cache", "memory", "cores"]
    let names = ["version", "formats", "vitrine-codecs"] + external + others
    #expect(Set(checks.keys) == Set(names))
    #expect(external.allSatisfy { checks[$0]?["status"] as? String == "ok" })
    #expect(checks["avif"]?["detail"] as? String == "reads and writes")
    #expect(checks["tiff"]?["detail"] as? String == "reads")
    #expect((checks["libcurl"]?["detail"] as? String)?.contains("HTTP/2") == true)
    #expect(try tool.files() == [])
    let text = try await tool.run("doctor").output.split(separator: "\n")
    #expect(text.count == names.count)
    #expect(text.contains { $0.hasPrefix("ok       avif            reads and writes") })
  }

  @Test
  func withoutItsProgramNoExternalFormatIsThere() async throws {
    let (status, checks) = try await checks("\(copy) && ./copy doctor --json")

    #expect(status == 1)
    #expect(checks["vitrine-codecs"]?["status"] as? String == "missing")
    #expect((checks["vitrine-codecs"]?["detail"] as? String)?.contains("No such file or directory") == true)
    #expect(checks["avif"]?["status"] as? String == "missing")
    #expect(checks["avif"]?["detail"] as? String == "needs vitrine-codecs")
    #expect(checks["libcurl"]?["status"] as? String == "ok")
    #expect(checks["sandbox"] == nil)
  }

  /// The workers' loader finds empty files in place of the library.
  @Test
  func aLibraryThatIsMissingIsNamedWithItsPackage() async throws {
    let script = #"""
      mkdir empty && for version in 13 14 15 16; do : >empty/libavif.so.$version; done
      printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$PWD/empty" "${vitrine%/*}/vitrine-codecs" >vitrine-codecs
      chmod +x vitrine-codecs
      """#
    let (status, checks) = try await checks("\(script)\n\(copy) && ./copy doctor --json")

    #expect(status == 1)
    #expect(checks["avif"]?["status"] as? String == "missing")
    #expect((checks["avif"]?["package"] as? String)?.hasPrefix("libavif1") == true)
    #expect(checks["jxl"]?["status"] as? String == "ok")
    #expect(checks["vitrine-codecs"]?["status"] as? String == "ok")
    let text = try await tool.shell("./copy doctor").output
    #expect(text.contains("; in Debian it is the package libavif1"))
  }

  @Test
  func withoutLibcurlItsPackageIsNamed() async throws {
    let script = #"mkdir empty && : >empty/libcurl.so.4 && LD_LIBRARY_PATH="$PWD/empty" "$vitrine" doctor --json"#
    let (status, checks) = try await checks(script)

    #expect(status == 1)
    #expect(checks["libcurl"]?["status"] as? String == "missing")
    #expect(checks["libcurl"]?["package"] as? String == "libcurl4")
    #expect(checks["avif"]?["status"] as? String == "ok")
  }

  @Test
  func aCacheThatCannotBeWrittenIsALimit() async throws {
    let file = try await checks(#": >file && XDG_CACHE_HOME="$PWD/file" "$vitrine" doctor --json"#)
    #expect(file.status == 0)
    #expect(file.checks["cache"]?["status"] as? String == "limited")
    #expect((file.checks["cache"]?["detail"] as? String)?.hasSuffix("/file/vitrine: Not a directory") == true)

    let script = #"mkdir -p c/vitrine && : >c/vitrine/x && XDG_CACHE_HOME="$PWD/c" "$vitrine" doctor --json"#
    let other = try await checks(script)
    #expect((other.checks["cache"]?["detail"] as? String)?.contains("the folder contains other files") == true)
  }

  /// Root may write everywhere.
  @Test(.enabled(if: geteuid() != 0))
  func aFolderOfSomebodyElseIsALimit() async throws {
    let script = #"mkdir c && chmod 500 c && XDG_CACHE_HOME="$PWD/c" "$vitrine" doctor --json"#
    let detail = try await checks(script).checks["cache"]?["detail"] as? String
    #expect(detail == "\(tool.folder.path)/c/vitrine: Permission denied")
  }

  @Test
  func limitsOfMemoryAreSeen() async throws {
    let (status, checks) = try await checks(#"ulimit -v 500000 && "$vitrine" doctor --json"#)
    #expect(status == 0)
    #expect(checks["memory"]?["status"] as? String == "limited")
    #expect((checks["memory"]?["detail"] as? String)?.hasPrefix("488.2 MiB of the machine's ") == true)
  }

  @Test
  func anArgumentIsAnErrorOfUsage() async throws {
    #expect(try await tool.run("doctor", "now").status == 64)
  }
}
#endif
