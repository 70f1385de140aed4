@testable import Vitrine
import VitrineCaching
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

extension FakeLoading.Load {
  /// The width of the box it was asked for in.
  var width: Double? { request.size?.width }

  /// Brings an image, or fails for `nil`.
  func end(_ version: Int?, source: (width: Int, height: Int) = (1, 1)) {
    finish(version.map { .of(name, version: $0, source: source) })
  }
}

extension ImageResponse {
  /// An image that says whose it is and which version.
  static func of(
    _ name: String,
    version: Int = 1,
    origin: Origin = .network,
    isStale: Bool = false,
    source: (width: Int, height: Int) = (1, 1),
  ) -> ImageResponse {
    let info = ImageInfo(format: .png, storedWidth: source.width, storedHeight: source.height)
    let loaded = LoadedImage(
      ImageContainer(.tagged(name, version), info: info),
      ContentID(low: UInt64(version), high: 1),
      .unlimited,
      status: nil,
      byteCount: 0,
      nil,
    )
    return ImageResponse(loaded, from: origin, isStale: isStale)
  }
}

/// What is seen on a display, to compare with what should be.
enum Seen: Equatable, CustomStringConvertible {
  case nothing
  case placeholder(String)
  case preview(String)
  case image(String, Int, fades: Bool)
  case failure(String)

  var description: String {
    switch self {
    case .nothing: "nothing"
    case .placeholder(let name): "placeholder of \(name)"
    case .preview(let name): "preview of \(name)"
    case .image(let name, let version, let fades): "image \(name)\(version)\(fades ? ", fading" : "")"
    case .failure(let name): "failure of \(name)"
    }
  }
}

/// A view that only remembers.
final class Screen: ImageDisplay {
  private(set) var seen = Seen.nothing
  private(set) var log: [Seen] = []
  private(set) var lastFailure: Placeholder?
  var onShow: (() -> Void)?

  func show(_ content: ImageSlot.Content) {
    switch content {
    case .empty: seen = .nothing
    case .placeholder(.symbol(let name)): seen = .placeholder(name)
    case .placeholder: seen = .placeholder("?")
    case .preview(let preview): seen = .preview(preview.bitmap.tag.name)
    case .image(let response, let fades):
      seen = .image(response.image.tag.name, response.image.tag.version, fades: fades)
    case .failure(let error, let placeholder):
      seen = .failure(error.source)
      lastFailure = placeholder
    }
    log.append(seen)
    onShow?()
  }
}
