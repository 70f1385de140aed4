public import VitrineRuntime

/// Where the bytes of an image come from.
public struct ImageSource: Sendable {
  enum Kind: Sendable {
    /// As written; whether it is an address is found out when it is loaded, so that a request can be made of anything.
    case url(String)
    case file(String)
    case data(Data, id: String)
    case closure(id: String, @Sendable () async throws -> Data)
  }

  let kind: Kind

  /// An http or https address.
  ///
  /// Text that is no address makes a source that fails with ``LoadError/Code/invalidURL`` when it is loaded. An address
  /// of a `file:` becomes the file it stands for.
  public static func url(_ address: String) -> ImageSource {
    if address.lowercased().hasPrefix("file://"), let url = URL(string: address), url.isFileURL {
      return .file(url.path(percentEncoded: false))
    }
    return ImageSource(kind: .url(address))
  }

  /// An http or https address.
  public static func url(_ url: URL) -> ImageSource {
    url.isFileURL ? .file(url.path(percentEncoded: false)) : .url(url.absoluteString)
  }

  /// A file, by its path.
  ///
  /// It is read each time and never stored in the disk cache.
  public static func file(_ path: String) -> ImageSource { ImageSource(kind: .file(path)) }

  /// Bytes at hand, told apart from others by `id`.
  public static func data(_ data: Data, id: String) -> ImageSource { ImageSource(kind: .data(data, id: id)) }

  /// Bytes that `load` brings, told apart from others by `id`.
  ///
  /// They are asked for each time and never stored in the disk cache; the image made of them is kept in memory.
  public static func closure(id: String, _ load: @escaping @Sendable () async throws -> Data) -> ImageSource {
    ImageSource(kind: .closure(id: id, load))
  }

  /// What a message calls the source: the address, the path, the id.
  public var description: String {
    switch kind {
    case .url(let address): address
    case .file(let path): path
    case .data(_, let id): "data '\(id)'"
    case .closure(let id, _): "source '\(id)'"
    }
  }
}
