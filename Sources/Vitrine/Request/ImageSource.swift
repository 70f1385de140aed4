import VitrineCaching
import VitrineHTTP
public import VitrineImaging
public import VitrineRuntime

/// Where the bytes of an image come from.
public struct ImageSource: Sendable {
  enum Kind: Sendable {
    /// As written; whether it is an address is found out when it is loaded, so that a request can be made of anything.
    case url(String)
    /// `isAddress` where it was given as one.
    case file(String, isAddress: Bool)
    case resource(String, in: String?)
    case data(Data, id: String)
    /// A `data:` URL as written, told apart from others by its length and a hash.
    case inline(String, ContentID)
    case closure(id: String, @Sendable () async throws -> Data)
    /// An address for the size that is asked for.
    case sized(@Sendable (TargetSize?) -> String)
    /// The first that gives an image.
    case first([ImageSource])
  }

  let kind: Kind

  /// An http or https address, or a `data:` URL.
  ///
  /// Text that is no address makes a source that fails with ``LoadError/Code/invalidURL`` when it is loaded. An address
  /// of a `file:` becomes the file it stands for. A `data:` URL needs no loader: its bytes are read from the text, each time,
  /// and never stored in the disk cache; keys hold a hash of the text and not the text.
  public static func url(_ address: String) -> ImageSource {
    // By its first byte most are told from the others: this is on the way of every look into memory.
    if address.utf8.first == UInt8(ascii: "h") { return ImageSource(kind: .url(address)) }
    if DataURL.isDataURL(address) {
      return ImageSource(kind: .inline(address, ContentID(of: Data(address.utf8))))
    }
    if address.lowercased().hasPrefix("file://"), let url = URL(string: address), url.isFileURL {
      return .url(url)
    }
    return ImageSource(kind: .url(address))
  }

  /// An http or https address, or one of a `file:` or `data:`.
  public static func url(_ url: URL) -> ImageSource {
    let text = url.absoluteString
    // Most begin with an h, and asking for the scheme costs more than the rest.
    guard text.utf8.first != UInt8(ascii: "h"), url.isFileURL else { return .url(text) }
    return ImageSource(kind: .file(url.path(percentEncoded: false), isAddress: true))
  }

  /// A file, by its path.
  ///
  /// It is read each time and never stored in the disk cache.
  public static func file(_ path: String) -> ImageSource { ImageSource(kind: .file(path, isAddress: false)) }

  /// A file that came with the program, by its name or its path within the program's own files.
  ///
  /// It is looked for when it is loaded: in `folder` if that is given, else, on Linux, in the folder of the executable, in
  /// `$XDG_DATA_HOME/<program>` and in `<program>` below each of `$XDG_DATA_DIRS`; on Apple's systems in the resources of
  /// the main bundle. A name that is absolute or leads upwards is not found.
  public static func resource(_ name: String, in folder: URL? = nil) -> ImageSource {
    ImageSource(kind: .resource(name, in: folder?.path(percentEncoded: false)))
  }

  /// An http or https address that depends on the size: for servers that resize.
  ///
  /// `address` is asked whenever the request's keys are made, with the size that the request then has (that of the view,
  /// where a view decides), and must be quick and always give the same for the same size. The image is still
  /// brought to that size if the server sends another.
  /// ```swift
  /// ImageRequest(.url { "https://example.org/cat?w=\(Int($0?.width ?? 800))" })
  /// ```
  public static func url(_ address: @escaping @Sendable (_ size: TargetSize?) -> String) -> ImageSource {
    ImageSource(kind: .sized(address))
  }

  /// Several sources of one image, of which the first counts that gives one.
  ///
  /// The next is asked when one cannot be fetched or is no image; cancelling asks none. Each is cached for itself, and what
  /// is in memory of any of them is shown before any is loaded. When all fail, the error is the first one's.
  public static func first(of sources: [ImageSource]) -> ImageSource { ImageSource(kind: .first(sources)) }

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
    case .file(let path, _): path
    case .resource(let name, _): name
    case .sized(let address): ImageSource.url(address(nil)).description
    case .first(let sources): sources.first?.description ?? "no source"
    case .data(_, let id): "data '\(id)'"
    case .inline(let address, _): address.utf8.count > 48 ? "\(address.prefix(48))…" : address
    case .closure(let id, _): "source '\(id)'"
    }
  }
}

extension ImageSource {
  /// The sources to be tried one after the other, if it is several.
  var alternatives: [ImageSource]? {
    guard case .first(let sources) = kind else { return nil }
    return sources
  }

  /// What is really to be loaded for a size.
  func resolved(for size: TargetSize?) -> ImageSource {
    guard case .sized(let address) = kind else { return self }
    return .url(address(size))
  }
}
