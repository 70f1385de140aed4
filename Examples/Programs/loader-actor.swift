// loader-actor URL: an actor with the avatars of a program. Equal requests share one load, in memory and on disk.
import Vitrine

actor Avatars {
  func avatar(at url: String) async throws -> Bitmap {
    try await ImagePipeline.shared.image(for: ImageRequest(url: url, size: .pixels(128, 128, .fill)))
  }
}

@main
enum LoaderActor {
  static func main() async throws {
    let (avatars, url) = (Avatars(), CommandLine.arguments.last ?? "")
    async let (one, other) = (avatars.avatar(at: url), avatars.avatar(at: url))
    print(try await one.width, try await other.width)
  }
}
