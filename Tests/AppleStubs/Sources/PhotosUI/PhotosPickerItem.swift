@_exported import Foundation

/// A picture that was picked.
public struct PhotosPickerItem: Hashable, Sendable {
  /// The name in the library; `nil` if the picker is not of the user's library.
  public let itemIdentifier: String?
  /// Its data; `nil` if it has none.
  public let _data: Data?
  private let number: Int

  /// Makes an item.
  public init(_data: Data?, itemIdentifier: String? = nil, number: Int = 0) {
    (self._data, self.itemIdentifier, self.number) = (_data, itemIdentifier, number)
  }

  /// Whether both are the same item.
  public static func == (one: Self, other: Self) -> Bool {
    (one.itemIdentifier, one.number) == (other.itemIdentifier, other.number)
  }

  /// Hashes the item.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(itemIdentifier)
    hasher.combine(number)
  }

  /// Loads the data.
  public func loadTransferable(type: Data.Type) async throws -> Data? { _data }
}
