import CGTK
import Vitrine
import VitrineRuntime

/// The pictures that came with the program, by their names.
@MainActor
enum ProgramPictures {
  /// The most pictures that are kept; they are few and small.
  private static let limit = 64
  private static var known: [String: Texture?] = [:]

  /// Returns a picture of a GResource, whose path begins with a slash, or of a file among the program's own.
  ///
  /// Blocks while it is read and decoded for the first time. Returns `nil` if there is none or it cannot be decoded.
  static func texture(named name: String) -> Texture? {
    if let texture = known[name] { return texture }
    let texture = make(name)
    if known.count >= limit { known = [:] }
    known[name] = .some(texture)
    return texture
  }

  private static func make(_ name: String) -> Texture? {
    guard let data = try? data(named: name) else { return nil }
    if let bitmap = try? DecoderRegistry.standard.decode(data).bitmap { return Texture(bitmap) }
    // GTK draws SVG, which the standard decoders do not.
    return drawnByGTK(data)
  }

  private static func drawnByGTK(_ data: Data) -> Texture? {
    let bytes = unsafe data.withUnsafeBytes { unsafe g_bytes_new($0.baseAddress, gsize($0.count)) }
    defer { unsafe g_bytes_unref(bytes) }
    guard let texture = unsafe gdk_texture_new_from_bytes(bytes, nil) else { return nil }
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(texture)) }
    return unsafe Texture(Bitmap(texture: texture))
  }

  private static func data(named name: String) throws -> Data {
    if name.hasPrefix("/") { return try DesktopSources.resource(name) }
    guard let path = ResourceFiles.path(of: name) else {
      throw DesktopSources.Problem("no such file came with the program")
    }
    return try FileContents.at(path)
  }
}
