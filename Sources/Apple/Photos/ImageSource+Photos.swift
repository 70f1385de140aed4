public import Photos
public import Vitrine
import VitrineRuntime

extension ImageSource {
  /// A picture of the user's photo library, as it was last edited.
  ///
  /// ```swift
  /// imageView.vitrine.load(ImageRequest(.photo(asset)))
  /// ```
  /// Another edit is another source. The library gives the whole file, which is decoded to the size of the request; it is
  /// never stored in the disk cache. A load that is cancelled is cancelled in the library, too. The program needs the
  /// user's permission to read the library, and says why in its `NSPhotoLibraryUsageDescription`.
  ///
  /// Fails with ``LoadError/Code/unreadable`` if the picture has left the library, the permission is missing, or the file
  /// is only on iCloud and may not be fetched.
  ///
  /// - Parameters:
  ///   - asset: The picture. A video or a Live Photo is its still.
  ///   - allowsNetwork: Whether a file that is only on iCloud is fetched. Defaults to `true`.
  /// - Returns: The source.
  public static func photo(_ asset: PHAsset, allowsNetwork: Bool = true) -> ImageSource {
    let identifier = asset.localIdentifier
    let edited = asset.modificationDate.map { "@\($0.timeIntervalSinceReferenceDate)" } ?? ""
    return .closure(id: "photo \(identifier)\(edited)") {
      try await PhotoRequest(identifier, allowsNetwork: allowsNetwork).data()
    }
  }
}

/// A request for the bytes of a picture of the library.
final class PhotoRequest: Sendable {
  private struct State {
    var number: PHImageRequestID?
    var isCancelled = false
  }

  private let identifier: String
  private let allowsNetwork: Bool
  private let state = Lock(State())
  private let outcome = Deferred<Result<Data, any Error>>()

  init(_ identifier: String, allowsNetwork: Bool) {
    (self.identifier, self.allowsNetwork) = (identifier, allowsNetwork)
  }

  /// Returns the bytes; throws ``PhotoError``, the library's own error, or `CancellationError`.
  func data() async throws -> Data {
    // The asset is looked up again: it may have left the library since it was asked for.
    guard let asset = PHAsset.fetchAssets(withLocalIdentifiers: [identifier], options: nil).firstObject else {
      throw PhotoError.missing
    }
    let options = PHImageRequestOptions()
    (options.version, options.deliveryMode) = (.current, .highQualityFormat)
    options.isNetworkAccessAllowed = allowsNetwork
    let number = PHImageManager.default().requestImageDataAndOrientation(for: asset, options: options) {
      [outcome] data, _, _, info in
      outcome.resolve(Self.result(data, info))
    }
    let isCancelled = state.withLock { state in
      state.number = number
      return state.isCancelled
    }
    if isCancelled { PHImageManager.default().cancelImageRequest(number) }
    return try await outcome.value(orCancelled: .failure(CancellationError())) { cancel() }.get()
  }

  private func cancel() {
    let number = state.withLock { state in
      state.isCancelled = true
      return state.number
    }
    if let number { PHImageManager.default().cancelImageRequest(number) }
  }

  private static func result(_ data: Data?, _ info: [AnyHashable: Any]?) -> Result<Data, any Error> {
    if let data { return .success(data) }
    if info?[PHImageCancelledKey] as? Bool == true { return .failure(CancellationError()) }
    if info?[PHImageResultIsInCloudKey] as? Bool == true { return .failure(PhotoError.inCloud) }
    return .failure(info?[PHImageErrorKey] as? any Error ?? PhotoError.noData)
  }
}

/// The reason why the photo library or the picker gave no bytes.
enum PhotoError: Error, CustomStringConvertible {
  case missing
  case inCloud
  case noData

  var description: String {
    switch self {
    case .missing: "the photo library has no such picture, or the program may not read it"
    case .inCloud: "the picture is only on iCloud, and the request does not allow the network"
    case .noData: "the photo library gave no image"
    }
  }
}
