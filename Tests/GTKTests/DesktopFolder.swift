import CGTK
import Vitrine
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineGTK

/// A folder of files and a cache of thumbnails, for one test.
final class DesktopFolder {
  static let red = SIMD4<UInt8>(255, 0, 0, 255)
  static let green = SIMD4<UInt8>(0, 255, 0, 255)
  static let blue = SIMD4<UInt8>(0, 0, 255, 255)

  private let folder: TemporaryFolder
  let thumbnails: DesktopThumbnails

  init() throws {
    folder = try TemporaryFolder()
    let cache = folder.file("cache/thumbnails")
    for size in ["normal", "large", "x-large", "xx-large"] {
      try FileManager.default.createDirectory(at: cache.appending(path: size), withIntermediateDirectories: true)
    }
    thumbnails = DesktopThumbnails(folder: ByteString(cache.path))
  }

  var root: URL { folder.url }

  /// Writes a red picture of 400 x 300 pixels, and returns its path.
  func file(_ name: String = "a.jpg", _ format: ImageFormat = .jpeg) throws -> String {
    let picture = Bitmap.solid(Self.red, width: 400, height: 300)
    return try folder.write(picture.encoded(as: format), to: name).path
  }

  /// Returns the texts of a valid thumbnail.
  func texts(of path: String) throws -> [(String, String)] { try texts(of: ByteString(path)) }

  func texts(of path: ByteString) throws -> [(String, String)] {
    guard let status = path.status() else { throw FileError("there is no such file") }
    return [("Thumb::URI", Self.uri(of: path)), ("Thumb::MTime", "\(status.st_mtim.tv_sec)")]
  }

  /// Returns the place of a file's thumbnail.
  func place(of path: String, _ size: String = "normal") -> URL { place(of: ByteString(path), size) }

  func place(of path: ByteString, _ size: String = "normal") -> URL {
    let sum = unsafe Self.taken(g_compute_checksum_for_string(G_CHECKSUM_MD5, Self.uri(of: path), -1))
    return root.appending(path: "cache/thumbnails/\(size)/\(sum).png")
  }

  /// Writes a thumbnail of one colour.
  @discardableResult
  func makeThumbnail(
    of path: String,
    _ color: SIMD4<UInt8> = blue,
    width: Int = 128,
    height: Int = 96,
    in size: String = "normal",
    texts: [(String, String)]? = nil,
  ) throws -> URL {
    let place = place(of: path, size)
    try Self.png(color, width, height, try texts ?? self.texts(of: path)).write(to: place)
    return place
  }

  /// Returns a PNG with texts, without the help of what is tested.
  static func png(_ color: SIMD4<UInt8>, _ width: Int, _ height: Int, _ texts: [(String, String)]) throws -> Data {
    let plain = [UInt8](try Bitmap.solid(color, width: width, height: height).encoded(as: .png))
    // After the signature and the header.
    return Data(plain[..<33] + texts.flatMap { chunk("tEXt", $0.0.utf8 + [0] + $0.1.utf8) } + plain[33...])
  }

  /// Returns a PNG with texts whose pixels cannot be inflated.
  static func undecodable(_ texts: [(String, String)]) throws -> Data {
    var bytes = Array([UInt8](try png(blue, 128, 96, [])).prefix(33))
    for (keyword, text) in texts { bytes += chunk("tEXt", keyword.utf8 + [0] + text.utf8) }
    return Data(bytes + chunk("IDAT", [1, 2, 3]) + chunk("IEND", []))
  }

  static func chunk(_ type: String, _ body: some Sequence<UInt8>) -> [UInt8] {
    func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    let content = Array(type.utf8) + body
    let sum = ~content.reduce(~UInt32(0)) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    return big(UInt32(content.count - 4)) + content + big(sum)
  }

  private static func uri(of path: ByteString) -> String {
    unsafe taken(path.withCString { unsafe g_filename_to_uri($0, nil, nil) })
  }

  private static func taken(_ text: UnsafeMutablePointer<CChar>?) -> String {
    defer { unsafe g_free(text) }
    return unsafe text.map { unsafe String(cString: $0) } ?? ""
  }
}
