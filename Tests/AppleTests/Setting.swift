import Testing
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTesting

/// A server that is a fake, with some pictures.
struct Setting {
  let parts = PipelineParts()
  let pipeline: ImagePipeline
  /// The bytes of each picture: 40x30 pixels.
  let bytes: Data

  static let cat = "https://images.invalid/cat.png"
  static let dog = "https://images.invalid/dog.png"
  /// Status 404.
  static let missing = "https://images.invalid/missing.png"
  /// Pictures that come when the test sends them.
  static let slow = "https://images.invalid/slow.png"
  static let slower = "https://images.invalid/slower.png"

  private static let picture = Result { try Bitmap.testPattern(width: 40, height: 30).encoded(as: .png) }

  var loader: FakeLoader { parts.loader }
  var response: FakeResponse {
    FakeResponse(headers: ["Cache-Control": "max-age=3600", "ETag": "\"1\""], body: bytes)
  }

  init() throws {
    bytes = try Self.picture.get()
    // No answer comes within the call that asks for it: a view would show it as if it had been in memory.
    pipeline = ImagePipeline.testing(parts) { $0.willSend = { _ in await MainActor.run {} } }
    loader.answer(Self.cat, response)
    loader.answer(Self.dog, response)
    loader.answer(Self.missing, FakeResponse(status: 404))
  }

  /// A request at its own size, so that it is found in memory whatever the view.
  static func request(_ url: String) -> ImageRequest { ImageRequest(url: url, size: .pixels(20, 20)) }
}

extension ImageSlot.Content {
  /// The kind of content, in a word.
  var kind: String {
    switch self {
    case .empty: "empty"
    case .placeholder: "placeholder"
    case .preview: "preview"
    case .image(_, let fades): fades ? "image, fading" : "image"
    case .failure: "failure"
    }
  }
}

/// Notes what a view shows.
@MainActor
final class History {
  private(set) var kinds: [String] = []
  private let stream: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func note(_ content: ImageSlot.Content) {
    kinds.append(content.kind)
    continuation.yield(content.kind)
  }

  /// Waits for the next image or failure.
  func settled() async {
    for await kind in stream where kind.hasPrefix("image") || kind == "failure" { return }
  }
}
