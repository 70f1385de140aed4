import CoreGraphics
import Foundation
import ImageIO
import Synchronization

/// The number of a request.
public typealias PHImageRequestID = Int32

/// The key of the error.
public let PHImageErrorKey = "PHImageErrorKey"
/// The key of a flag: the request was cancelled.
public let PHImageCancelledKey = "PHImageCancelledKey"
/// The key of a flag: the file is only on iCloud.
public let PHImageResultIsInCloudKey = "PHImageResultIsInCloudKey"

/// Which form of a picture is asked for.
public enum PHImageRequestOptionsVersion: Int, Sendable {
  /// As it was last edited.
  case current = 0
  /// As it was taken, without edits.
  case unadjusted = 1
  /// As it was taken.
  case original = 2
}

/// What matters more.
public enum PHImageRequestOptionsDeliveryMode: Int, Sendable {
  /// One soon, and a better one later.
  case opportunistic = 0
  /// One, as good as it gets.
  case highQualityFormat = 1
  /// One, soon.
  case fastFormat = 2
}

/// The options of a request.
open class PHImageRequestOptions: NSObject {
  /// The form.
  open var version = PHImageRequestOptionsVersion.current
  /// What matters more.
  open var deliveryMode = PHImageRequestOptionsDeliveryMode.opportunistic
  /// Whether a file on iCloud is fetched.
  open var isNetworkAccessAllowed = false
}

/// What gives pictures of the library.
open class PHImageManager: NSObject, @unchecked Sendable {
  // Sendable by hand: all state has a lock.

  /// A request that waits for its answer.
  public struct _Request: @unchecked Sendable {
    // Sendable by hand: the handler is called once, by whoever has taken the request.

    /// The identifier of the asset.
    public let identifier: String
    /// Whether the network may be used.
    public let allowsNetwork: Bool
    let handler: (Data?, String?, CGImagePropertyOrientation, [AnyHashable: Any]?) -> Void

    /// Answers.
    public func _answer(_ data: Data?, _ info: [AnyHashable: Any] = [:]) { handler(data, "public.jpeg", .up, info) }
  }

  private struct State {
    var requests: [PHImageRequestID: _Request] = [:]
    var last: PHImageRequestID = 0
    var onRequest: (@Sendable (PHImageRequestID) -> Void)?
  }

  private static let manager = PHImageManager()
  private let state = Mutex(State())

  /// The manager of the library.
  open class func `default`() -> PHImageManager { manager }

  /// Calls a closure with the number of each new request.
  public func _whenAsked(_ body: (@Sendable (PHImageRequestID) -> Void)?) { state.withLock { $0.onRequest = body } }

  /// Takes a request that waits.
  public func _take(_ number: PHImageRequestID) -> _Request? {
    state.withLock { $0.requests.removeValue(forKey: number) }
  }

  /// Lets a request wait again.
  public func _putBack(_ request: _Request, _ number: PHImageRequestID) {
    state.withLock { $0.requests[number] = request }
  }

  /// Asks for the bytes of a picture.
  @discardableResult
  open func requestImageDataAndOrientation(
    for asset: PHAsset,
    options: PHImageRequestOptions?,
    resultHandler: @escaping (Data?, String?, CGImagePropertyOrientation, [AnyHashable: Any]?) -> Void,
  ) -> PHImageRequestID {
    let request = _Request(
      identifier: asset.localIdentifier,
      allowsNetwork: options?.isNetworkAccessAllowed ?? false,
      handler: resultHandler,
    )
    let (number, notify) = state.withLock { state in
      state.last += 1
      state.requests[state.last] = request
      return (state.last, state.onRequest)
    }
    notify?(number)
    return number
  }

  /// Cancels a request, whose handler is told.
  open func cancelImageRequest(_ requestID: PHImageRequestID) {
    _take(requestID)?._answer(nil, [PHImageCancelledKey: true])
  }
}
