public import PhotosUI
public import Vitrine
// Apple has the items of pickers in an overlay of both modules; the stubs have no overlays.
#if os(Linux)
import SwiftUI
#else
public import SwiftUI
#endif

extension ImageSource {
  /// A picture that the user has picked, for which the program needs no permission.
  ///
  /// ```swift
  /// PhotosPicker("Choose", selection: $item, matching: .images)
  /// RemoteImage(item.map { ImageRequest(.photo($0), size: .points(300, 200, scale: displayScale)) }) { phase in
  ///   phase.image?.resizable()
  /// }
  /// ```
  /// The picker gives the whole file, which is decoded to the size of the request and never stored in the disk cache.
  ///
  /// Fails with ``LoadError/Code/unreadable`` if the picker has no image data for the item.
  ///
  /// - Parameter item: The item of the picker's selection.
  /// - Returns: The source.
  public static func photo(_ item: PhotosPickerItem) -> ImageSource {
    // Only pickers of the user's own library name their items. Other items are told apart by Swift's hash of 64 bits, whose
    // seed is another in each process.
    .closure(id: "picked \(item.itemIdentifier ?? "item \(item.hashValue)")") {
      guard let data = try await item.loadTransferable(type: Data.self) else { throw PhotoError.noData }
      return data
    }
  }
}
