import VitrineCaching
import VitrineHTTP
public import VitrineImaging
public import VitrineRuntime

/// The source of an image's bytes.
public struct ImageSource: Sendable {
  enum Kind: Sendable {
    /// The text as written; it is parsed when it is loaded, so any text makes a request.
    case url(String)
    /// The path; `isURL` if it was given as a URL.
    case file(String, isURL: Bool)
    /// A small picture of a file that another program has made; the closure blocks.
    case thumbnail(of: String, isURL: Bool, @Sendable () throws -> Data)
    case resource(String, in: String?)
    /// Bytes in memory, by a name and by their checksum; `nil` for a name that is a checksum.
    case data(Data, id: String, ContentID?)
    /// A `data:` URL as written, identified by its length and a hash.
    case inline(String, ContentID)
    case closure(id: String, @Sendable () async throws -> Data)
    /// A URL that depends on the requested size.
    case sized(@Sendable (TargetSize?) -> String)
    /// The first source that has an image.
    case first([ImageSource])
  }

  let kind: Kind

  /// An http or https URL, or a `data:` URL.
  ///
  /// Loading text that is not a URL fails with ``LoadError/Code/invalidURL``. A `file:` URL becomes the file it names.
  /// A `data:` URL is decoded each time and never stored in the disk cache; keys hold a hash of it. `s3://bucket/key`
  /// is loaded by an `S3Loader` of the module `VitrineS3`; the key is taken as written, without percent-decoding.
  public static func url(_ text: String) -> ImageSource {
    // Most sources are recognised by the first byte: this precedes every look-up in memory.
    if text.utf8.first == UInt8(ascii: "h") { return ImageSource(kind: .url(text)) }
    if DataURL.isDataURL(text) {
      return ImageSource(kind: .inline(text, ContentID(of: Data(text.utf8))))
    }
    if text.lowercased().hasPrefix("file://"), let url = URL(string: text), url.isFileURL {
      return .url(url)
    }
    return ImageSource(kind: .url(ObjectURL(text)?.standIn.string ?? text))
  }

  /// An http or https URL, or a `file:` or `data:` URL.
  public static func url(_ url: URL) -> ImageSource {
    let text = url.absoluteString
    // Most URLs begin with an h, and reading the scheme would cost more than the rest.
    guard text.utf8.first != UInt8(ascii: "h"), url.isFileURL else { return .url(text) }
    return ImageSource(kind: .file(url.path(percentEncoded: false), isURL: true))
  }

  /// A file, by its path.
  ///
  /// It is read each time, and never stored in the disk cache; its images are if ``ImageRequest/storagePolicy`` is set.
  public static func file(_ path: String) -> ImageSource { ImageSource(kind: .file(path, isURL: false)) }

  /// A file that came with the program, by its name or its path within the program's own files.
  ///
  /// It is looked up when it is loaded. The places are `folder` if given; else, on Linux, the executable's folder,
  /// `$XDG_DATA_HOME/<program>` and `<program>` below each of `$XDG_DATA_DIRS`; on Apple platforms, the resources of
  /// the main bundle. A name that is absolute or leads upwards is not found.
  public static func resource(_ name: String, in folder: URL? = nil) -> ImageSource {
    ImageSource(kind: .resource(name, in: folder?.path(percentEncoded: false)))
  }

  /// An http or https URL that depends on the size, for servers that resize.
  ///
  /// `url` is called whenever the request's keys are made, with the request's size or, where a view decides, the
  /// view's. It must be quick and always return the same URL for the same size. An image of another size is still
  /// resized.
  /// ```swift
  /// ImageRequest(.url { "https://example.org/cat?w=\(Int($0?.width ?? 800))" })
  /// ```
  public static func url(_ url: @escaping @Sendable (_ size: TargetSize?) -> String) -> ImageSource {
    ImageSource(kind: .sized(url))
  }

  /// Several sources of one image; the first that succeeds is used.
  ///
  /// The next source is tried if one cannot be fetched or is not an image, but not after a cancellation. Each source is
  /// cached separately, and an image in memory of any of them is shown before any is loaded. If all fail, the first
  /// error is reported.
  public static func first(of sources: [ImageSource]) -> ImageSource { ImageSource(kind: .first(sources)) }

  /// Encoded data, identified by `id` and a checksum.
  ///
  /// Other bytes with the same `id` are another source. The checksum is not cryptographic; it costs about 0.15 ms for
  /// each megabyte, once.
  public static func data(_ data: Data, id: String) -> ImageSource {
    ImageSource(kind: .data(data, id: id, ContentID(of: data)))
  }

  /// Encoded data, identified by its SHA-256, which is the same on every system.
  ///
  /// The hash takes about 7 ms for each megabyte, once, on the calling thread. With an `id` there is a faster one; see
  /// ``data(_:id:)``.
  public static func data(_ data: Data) -> ImageSource {
    ImageSource(kind: .data(data, id: SHA256.hash(data).hexDigits, nil))
  }

  /// The bytes that `load` returns, identified by `id`.
  ///
  /// The closure is called for each load. The bytes are never stored in the disk cache; the image is cached in memory.
  public static func closure(id: String, _ load: @escaping @Sendable () async throws -> Data) -> ImageSource {
    ImageSource(kind: .closure(id: id, load))
  }

  /// The name of the source in messages: the URL, the path or the id.
  public var description: String {
    switch kind {
    case .url(let text): ObjectURL(standIn: text)?.text ?? text
    case .file(let path, _), .thumbnail(let path, _, _): path
    case .resource(let name, _): name
    case .sized(let url): ImageSource.url(url(nil)).description
    case .first(let sources): sources.first?.description ?? "no source"
    case .data(_, let id, _): "data '\(id)'"
    case .inline(let text, _): text.utf8.count > 48 ? "\(text.prefix(48))…" : text
    case .closure(let id, _): "source '\(id)'"
    }
  }
}

extension ImageSource {
  /// The sources to be tried in order; `nil` for a single source.
  var alternatives: [ImageSource]? {
    guard case .first(let sources) = kind else { return nil }
    return sources
  }

  /// The path of the file that the source shows, itself or by a thumbnail; `nil` for other sources.
  package var filePath: String? {
    switch kind {
    case .file(let path, _), .thumbnail(let path, _, _): path
    // A list that begins with a thumbnail continues with the thumbnail's own file.
    case .first(let sources): sources.first.flatMap { $0.isThumbnail ? $0.filePath : nil }
    case .url, .resource, .data, .inline, .closure, .sized: nil
    }
  }

  /// A Boolean value that indicates whether the source is a file.
  var isFile: Bool {
    if case .file = kind { true } else { false }
  }

  /// A Boolean value that indicates whether the source is a thumbnail, whose bytes are not the bytes of the file that
  /// it names.
  var isThumbnail: Bool {
    if case .thumbnail = kind { true } else { false }
  }

  /// Returns the source to load for a size.
  func resolved(for size: TargetSize?) -> ImageSource {
    guard case .sized(let url) = kind else { return self }
    return .url(url(size))
  }
}
