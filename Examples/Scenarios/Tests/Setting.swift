// The scenarios of five articles about images in Swift, as far as they need no framework of Apple's. Each is a test of
// at most ten lines, written from the README and the documentation. Those that need UIKit, AppKit, SwiftUI or Combine are
// in Tests/AppleTests. The table in Sources/Apple/VitrineApple.docc/VitrineApple.md has all of them, with what the
// articles write; new ones belong into it. AVIF, HEIF and SVG are in Tests/CodecTests.

import Foundation
import Observation
import Testing
import Vitrine
import VitrineTesting

/// A server that is a fake, with some pictures.
struct Setting {
  let parts = PipelineParts()
  /// A picture of 320x240 pixels.
  let cat: URL
  /// Another picture of 320x240 pixels.
  let dog: URL
  /// Nothing: status 404.
  let missing: URL
  /// A picture that comes when the test sends it.
  let slow: URL
  /// The bytes of each picture.
  let bytes: Data

  /// A GIF file of one pixel, which is red for a tenth of a second and then black.
  static let animation = Data(
    Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 0]
      + [0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
      + [0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4C, 1, 0, 0x3B]
  )

  /// A progressive JPEG.
  static let progressiveFile = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Photographs/lighthouse-progressive.jpg")

  private static let picture = Result { try Bitmap.testPattern(width: 320, height: 240).encoded(as: .jpeg) }

  var loader: FakeLoader { parts.loader }
  /// The response with a picture, fresh for an hour.
  var response: FakeResponse {
    FakeResponse(headers: ["Cache-Control": "max-age=3600", "ETag": "\"1\""], body: bytes)
  }

  init() throws {
    bytes = try Self.picture.get()
    cat = try #require(URL(string: "https://images.invalid/cat.jpg"))
    dog = try #require(URL(string: "https://images.invalid/dog.jpg"))
    missing = try #require(URL(string: "https://images.invalid/missing.jpg"))
    slow = try #require(URL(string: "https://images.invalid/slow.jpg"))
    loader.answer(cat.absoluteString, response)
    loader.answer(dog.absoluteString, response)
    loader.answer(missing.absoluteString, FakeResponse(status: 404))
  }

  /// Makes a URL whose downloads break off in the middle, unless they ask for the rest.
  ///
  /// - Returns: The URL, of more than 256 KB.
  func makeBreakingURL() throws -> URL {
    let url = try #require(URL(string: "https://images.invalid/large.jpg"))
    // Decoders ignore what follows the picture.
    let body = bytes + Data(count: 300_000)
    loader.answer(url.absoluteString) { request in
      let headers: HTTPFields = ["Cache-Control": "max-age=3600", "ETag": "\"1\"", "Content-Length": "\(body.count)"]
      guard let range = request.headers["Range"], let start = Int(range.dropFirst("bytes=".count).dropLast()) else {
        return FakeResponse(headers: headers, body: body.prefix(body.count / 2), error: .truncated)
      }
      let part = "bytes \(start)-\(body.count - 1)/\(body.count)"
      return FakeResponse(status: 206, headers: ["Content-Range": part, "ETag": "\"1\""], body: body.dropFirst(start))
    }
    return url
  }
}

extension FakeLoader {
  /// Waits until a load of a URL has begun, and returns it.
  func nextLoad(of url: URL) async throws(CancellationError) -> FakeLoad {
    try await nextLoad(of: url.absoluteString)
  }
}

/// A run of a program that keeps its images in a folder.
struct Program {
  let pipeline: ImagePipeline
  private let disk: DiskCache

  init(_ setting: Setting, _ folder: Folder, lifetime: Duration? = nil) throws {
    let disk = try DiskCache(
      directory: folder.url,
      sizeLimit: 64 << 20,
      lifetime: lifetime,
      clock: setting.parts.clock,
    )
    pipeline = ImagePipeline.testing(setting.parts) { $0.diskCache = disk }
    self.disk = disk
  }

  /// Ends the run; the next one may have the folder.
  func quit() async {
    await pipeline.cache.flush()
    await disk.close()
  }
}

/// A temporary folder, removed when it is released.
final class Folder: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "scenario-\(UUID().uuidString)")

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}

/// A view without a toolkit, which notes what it shows.
@MainActor
final class FakeView: ImageDisplay {
  let slot: ImageSlot
  /// Everything shown so far, in order.
  private(set) var history: [String] = []
  /// The origin of the last image, and whether it faded in.
  private(set) var image: (origin: ImageResponse.Origin, fades: Bool)?
  private let contents: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init(_ pipeline: ImagePipeline) {
    slot = ImageSlot(pipeline: pipeline)
    (contents, continuation) = AsyncStream.makeStream()
    slot.display = self
  }

  func show(_ content: ImageSlot.Content) {
    let text =
      switch content {
      case .empty: "empty"
      case .placeholder: "placeholder"
      case .preview: "preview"
      case .image: "image"
      case .failure(_, shows: .image): "error image"
      case .failure: "failure"
      }
    if case .image(let response, let fades) = content { image = (response.origin, fades) }
    history.append(text)
    continuation.yield(text)
  }

  /// Waits until the view shows an image or a failure, and returns what it shows.
  func result() async -> String? {
    for await content in contents where !["empty", "placeholder", "preview"].contains(content) { return content }
    return nil
  }
}

/// A view without a toolkit whose look is decided by a closure.
@MainActor
final class StyledView: ImageDisplay {
  let slot: ImageSlot
  private let style: (ImageSlot.Content) -> String
  private let contents: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init(_ pipeline: ImagePipeline, style: @escaping (ImageSlot.Content) -> String) {
    slot = ImageSlot(pipeline: pipeline)
    self.style = style
    (contents, continuation) = AsyncStream.makeStream()
    slot.display = self
  }

  func show(_ content: ImageSlot.Content) { continuation.yield(style(content)) }

  /// Waits for as many contents, and returns their styles.
  func styles(_ count: Int) async -> [String] {
    var styles: [String] = []
    for await style in contents {
      styles.append(style)
      if styles.count == count { break }
    }
    return styles
  }
}

extension ImageLoader {
  /// Waits until the load has ended.
  func settle() async {
    while case .loading = phase {
      await withCheckedContinuation { changed in
        withObservationTracking {
          _ = phase
        } onChange: {
          changed.resume()
        }
      }
    }
  }
}
