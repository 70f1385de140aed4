import Foundation
import VitrineHTTP
import VitrineTestSupport
import VitrineTesting

extension Photograph {
  /// Serves all of them, fresh for an hour.
  static func serve(on server: LoopbackServer) throws {
    for name in names { server.route("/\(name)", response(try data(name))) }
  }

  static func response(_ body: Data, cacheControl: String = "max-age=3600", tag: String? = nil) -> LoopbackResponse {
    LoopbackResponse(headers: ["Cache-Control": cacheControl], body: body, entityTag: tag)
  }
}
