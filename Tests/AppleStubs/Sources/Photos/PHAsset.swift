import Foundation
import Synchronization

/// A picture of the library.
open class PHAsset: NSObject, @unchecked Sendable {
  // Sendable by hand: all properties are constant.

  /// The name in the library.
  public let localIdentifier: String
  /// The time of the last edit.
  public let modificationDate: Date?

  /// Makes an asset, which is in the library once it is in `_library`.
  public init(_identifier: String, modified: Date? = nil) {
    (localIdentifier, modificationDate) = (_identifier, modified)
    super.init()
  }

  /// The library, by identifiers.
  public static let _library = Mutex<[String: PHAsset]>([:])

  /// Returns the assets with these identifiers that are in the library.
  open class func fetchAssets(
    withLocalIdentifiers identifiers: [String],
    options: PHFetchOptions?,
  ) -> PHFetchResult<PHAsset> {
    PHFetchResult(_library.withLock { library in identifiers.compactMap { library[$0] } })
  }
}

/// The options of a search.
open class PHFetchOptions: NSObject {}

/// The results of a search.
open class PHFetchResult<ObjectType: AnyObject>: NSObject {
  private let objects: [ObjectType]

  init(_ objects: [ObjectType]) {
    self.objects = objects
    super.init()
  }

  /// The first result.
  open var firstObject: ObjectType? { objects.first }
}
