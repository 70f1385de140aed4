import Foundation
import VitrineTesting

/// The shipped photographs, and a server that has them.
enum Photographs {
  static let names: [String] = {
    let names = try? FileManager.default.contentsOfDirectory(atPath: Tool.photographs)
    return (names ?? []).filter { !$0.hasSuffix(".md") }.sorted()
  }()

  static func data(_ name: String) throws -> Data {
    try Data(contentsOf: URL(filePath: Tool.photographs + "/" + name))
  }

  /// Serves all of them, fresh for an hour.
  static func serve(on server: LoopbackServer) throws {
    for name in names { server.route("/\(name)", response(try data(name))) }
  }

  static func response(_ body: Data, cacheControl: String = "max-age=3600", tag: String? = nil) -> LoopbackResponse {
    LoopbackResponse(headers: [("Cache-Control", cacheControl)], body: body, entityTag: tag)
  }
}
