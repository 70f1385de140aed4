import Vitrine
import VitrineCaching
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// Pictures whose pixels say of which address, version and processors they are.
enum Pictures {
  static let size = (width: 16, height: 12)
  /// The version of what somebody puts into memory.
  static let put = 255
  static let garbage = Data("<html>no image</html>".utf8)

  /// What is read off the pixels of an image.
  struct Name: Hashable, CustomStringConvertible {
    var address: Int
    var version: Int
    /// Each processor's number after those before it, in base four.
    var steps = 0

    var description: String { "address \(address) version \(version) steps \(steps)" }
  }

  private static let known = Lock<[Name: Data]>([:])

  static func bitmap(_ name: Name, width: Int = size.width, height: Int = size.height) -> Bitmap {
    .solid(
      SIMD4(UInt8(20 + 40 * name.address), UInt8(name.version), UInt8(name.steps), 255),
      width: width,
      height: height,
    )
  }

  static func file(_ address: Int, _ version: Int) -> Data {
    let name = Name(address: address, version: version)
    return known.withLock { known in
      if let file = known[name] { return file }
      let file = (try? bitmap(name).encoded(as: .png)) ?? Data()
      known[name] = file
      return file
    }
  }

  /// What the bytes are of; `nil` for what is none of these.
  static func name(of file: Data) -> Name? { known.withLock { known in known.first { $0.value == file }?.key } }

  /// `nil` for pixels that are not all the same, or that nobody made.
  static func name(of bitmap: Bitmap) -> Name? {
    let pixel = bitmap[0, 0]
    let corners = [bitmap[bitmap.width - 1, 0], bitmap[0, bitmap.height - 1]]
    guard corners.allSatisfy({ $0 == pixel }), pixel.w == 255, (Int(pixel.x) - 20) % 40 == 0 else { return nil }
    return Name(address: (Int(pixel.x) - 20) / 40, version: Int(pixel.y), steps: Int(pixel.z))
  }

  /// A processor that leaves its mark, after `run`.
  static func mark(_ number: Int, _ run: @escaping @Sendable (Bitmap) throws -> Void) -> ImageProcessor {
    .custom(id: "mark \(number)") { bitmap in
      try run(bitmap)
      let pixel = bitmap[0, 0]
      let marked = SIMD4<UInt8>(pixel.x, pixel.y, pixel.z &* 4 &+ UInt8(number), pixel.w)
      return .solid(marked, width: bitmap.width, height: bitmap.height)
    }
  }
}
