@testable import Vitrine
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport

extension FakeLoading {
  /// Puts images into memory for all names that begin with a letter.
  func remember(_ family: Character, version: Int, isStale: Bool = false) {
    let known = others
    others = { name in
      guard name.first == family else { return known(name) }
      return .of(name, version: version, origin: .memory, isStale: isStale)
    }
  }
}

extension ImageResponse {
  /// An image whose pixels say whose it is, and which version.
  static func of(
    _ name: String,
    version: Int = 1,
    origin: Origin = .network,
    isStale: Bool = false,
    image: Bitmap? = nil,
  ) -> ImageResponse {
    let image = image ?? .tagged(name, version)
    let info = ImageInfo(format: .png, storedWidth: image.width, storedHeight: image.height)
    return of(ImageContainer(image, info: info), version: version, origin: origin, isStale: isStale)
  }

  static func of(
    _ container: ImageContainer,
    version: Int = 1,
    origin: Origin = .network,
    isStale: Bool = false,
  ) -> ImageResponse {
    let loaded = LoadedImage(
      container,
      ContentID(low: UInt64(version), high: 1),
      .unlimited,
      status: nil,
      byteCount: 0,
      nil,
    )
    return ImageResponse(loaded, from: origin, isStale: isStale)
  }
}

extension Bitmap {
  /// Returns `true` if it was made by ``tagged(_:_:)`` for this name.
  func isTagged(_ name: String) -> Bool {
    let (mine, other) = (self[0, 0], Bitmap.tagged(name, 0)[0, 0])
    return mine.x == other.x && mine.y == other.y
  }
}
