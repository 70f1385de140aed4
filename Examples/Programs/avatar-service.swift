// avatar-service FOLDER: serves the pictures in a folder as avatars, such as /_/pr:avatar/plain/local:///ada.jpg
import Foundation
import VitrineServing

@main
enum AvatarService {
  static func main() async throws {
    var configuration = ThumbnailServer.Configuration()
    configuration.localRoot = CommandLine.arguments.dropFirst().first ?? "."
    configuration.port = 0  // a free one
    configuration.urls.presets = ["avatar": "rs:fill:128:128/g:sm/rc:64/f:webp"]
    configuration.urls.allowsOnlyPresets = true
    let server = try ThumbnailServer(configuration, logFile: 1)
    try server.start()
    print("http://127.0.0.1:\(server.port)/_/avatar/plain/local:///NAME")
    try await Task.sleep(for: .seconds(86_400 * 365))
  }
}
