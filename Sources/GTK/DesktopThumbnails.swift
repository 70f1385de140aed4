import CGTK
import Vitrine
import VitrineImaging
import VitrineRuntime

/// The thumbnails of files that the programs of a desktop share, after the Thumbnail Managing Standard of
/// freedesktop.org.
///
/// They are only read: who makes a thumbnail has decoded the file anyway, and Vitrine has caches of its own.
struct DesktopThumbnails: Sendable {
  /// The reason why a file has no thumbnail.
  struct Absence: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// The folders by the length of a side that their thumbnails fit into, in pixels.
  private static let sizes = [("normal", 128), ("large", 256), ("x-large", 512), ("xx-large", 1024)]
  private static let largestSide = 1024
  /// The most bytes of a thumbnail: twice the pixels of the largest one.
  private static let sizeLimit = 8 << 20
  /// The number of bytes that tell whether a file moves.
  private static let beginning = 4096
  // A FIFO is opened without waiting for its other end, and a link is not followed.
  private static let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW

  /// The folder of the cache, without a slash at the end.
  let folder: ByteString

  /// The cache of the user: `thumbnails` in `$XDG_CACHE_HOME`, which defaults to `~/.cache`.
  static let user = DesktopThumbnails(
    folder: unsafe ByteString(bytes: g_get_user_cache_dir().map { unsafe bytes(of: $0) } ?? []) + "/thumbnails"
  )

  /// Returns the request that prefers a thumbnail of its file; the same if a thumbnail would not do.
  func preferred(for request: ImageRequest) -> ImageRequest {
    guard let path = request.source.filePath, let size = request.size, Self.mayServe(request) else { return request }
    let isMoving = request.animates
    return request.preferring { try thumbnail(of: ByteString(path), for: size, onlyOfStill: isMoving) }
  }

  /// Returns `true` if a thumbnail may have everything that the request wants, as far as that is known without files.
  private static func mayServe(_ request: ImageRequest) -> Bool {
    guard let size = request.size, request.quality != .best, request.frame == 0, request.filter == .lanczos3 else {
      return false
    }
    return !request.usesLinearLight && request.colorSpace == .sRGB && request.dynamicRange == .standard
      && !request.keepsEncodedData && covers(size, largestSide, largestSide)
  }

  /// Returns the PNG of the smallest valid thumbnail that has enough pixels for a size.
  ///
  /// Blocks.
  ///
  /// - Parameters:
  ///   - path: The path of the file, which need not be absolute.
  ///   - size: The size in which the file is shown.
  ///   - onlyOfStill: A Boolean value that indicates whether a file that may move has no thumbnail.
  /// - Returns: The encoded thumbnail.
  /// - Throws: ``Absence`` if there is none.
  func thumbnail(of path: ByteString, for size: TargetSize, onlyOfStill: Bool = false) throws(Absence) -> Data {
    let original = try Original(path)
    guard !original.path.bytes.starts(with: (folder + "/").bytes) else {
      throw Absence("a thumbnail has no thumbnail")
    }
    if onlyOfStill, !Self.isStill(original.path) { throw Absence("the file may move, and a thumbnail does not") }
    let checksum = unsafe original.uri.withCString { unsafe g_compute_checksum_for_string(G_CHECKSUM_MD5, $0, -1) }
    let name = unsafe ByteString(bytes: taken(checksum)) + ".png"
    for (folder, side) in Self.sizes where Self.covers(size, side, side) {
      let place = self.folder + "/" + ByteString(folder) + "/" + name
      if let data = Self.contents(of: place), Self.isThumbnail(data, of: original, within: side, for: size) {
        return data
      }
    }
    throw Absence("the desktop has no valid thumbnail of this size")
  }

  // MARK: Checks

  /// Returns `true` if the PNG is a thumbnail of the file as it is now, and has enough pixels for a size.
  private static func isThumbnail(_ data: Data, of original: Original, within side: Int, for size: TargetSize) -> Bool {
    guard let text = PNGText(data), (1...side).contains(text.width), (1...side).contains(text.height),
      text.fields["Thumb::URI"].map({ ByteString($0) }) == original.uri,
      text.fields["Thumb::MTime"].flatMap({ Int($0) }) == original.seconds
    else { return false }
    if let count = text.fields["Thumb::Size"], Int(count) != original.byteCount { return false }
    if covers(size, text.width, text.height) { return true }
    // Nothing was lost if the file has no more pixels.
    return text.fields["Thumb::Image::Width"] == "\(text.width)"
      && text.fields["Thumb::Image::Height"] == "\(text.height)"
  }

  /// Returns `true` if a picture of so many pixels need not be enlarged for a size.
  static func covers(_ size: TargetSize, _ width: Int, _ height: Int) -> Bool {
    // Sides of a decoded image are rounded.
    let scales = [size.width.map { $0.rounded() / Double(width) }, size.height.map { $0.rounded() / Double(height) }]
      .compactMap { $0 }
    guard let least = scales.min(), let most = scales.max() else { return false }
    return switch size.mode {
    case .fit: least <= 1
    case .fill, .exact: most <= 1
    }
  }

  // MARK: Files

  /// A file and the facts that its thumbnails name.
  private struct Original {
    /// The absolute path.
    let path: ByteString
    let uri: ByteString
    let seconds: Int
    let byteCount: Int

    init(_ path: ByteString) throws(Absence) {
      // Every program must arrive at the same URI, so it is GLib that makes it; links are not resolved.
      let whole = unsafe taken(path.withCString { unsafe g_canonicalize_filename($0, nil) })
      self.path = ByteString(bytes: whole)
      unsafe uri = ByteString(bytes: taken(self.path.withCString { unsafe g_filename_to_uri($0, nil, nil) }))
      guard !uri.isEmpty, let status = self.path.status(), status.st_mode & S_IFMT == S_IFREG,
        unsafe self.path.withCString({ unsafe access($0, R_OK) }) == 0
      else { throw Absence("the file cannot be read") }
      (seconds, byteCount) = (Int(status.st_mtim.tv_sec), Int(status.st_size))
    }
  }

  /// Returns the bytes of a regular file that is not too large; `nil` for any other.
  private static func contents(of place: ByteString) -> Data? {
    let file = unsafe place.withCString { unsafe open($0, flags) }
    guard file >= 0 else { return nil }
    defer { close(file) }
    var info = stat()
    guard unsafe fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size <= sizeLimit else {
      return nil
    }
    return try? FileContents.of(file)
  }

  private static func isStill(_ path: ByteString) -> Bool {
    let file = unsafe path.withCString { unsafe open($0, flags & ~O_NOFOLLOW) }
    guard file >= 0 else { return false }
    defer { close(file) }
    let start = unsafe [UInt8](unsafeUninitializedCapacity: beginning) { buffer, count in
      // No more bytes than the buffer has.
      unsafe count = max(0, read(file, buffer.baseAddress, buffer.count))
    }
    return ImageFormat.isStill(beginning: Data(start))
  }
}

/// Returns the bytes of a text that GLib made, and frees it; none for `nil`.
private func taken(_ text: UnsafeMutablePointer<CChar>?) -> [UInt8] {
  guard let text = unsafe text else { return [] }
  defer { unsafe g_free(text) }
  return unsafe bytes(of: text)
}

/// Returns the bytes of a text without the zero at its end.
private func bytes(of text: UnsafePointer<CChar>) -> [UInt8] {
  unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
}
