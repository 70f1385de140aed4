import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// A JPEG file's rows at an eighth of its size, or at another scale.
enum EighthDecoding {
  static let own = JPEGDecoder(ownDecoderMinimum: 0)
  static let system = JPEGDecoder(ownDecoderMinimum: .max)

  struct Picture {
    var bitmap: Bitmap
    /// Whether the decoder of our own made it.
    var isOwn: Bool
    var damage: ImageError?
  }

  /// The pixels as a decoder delivers them at the smallest scale, or at one that is large enough for `scale`.
  static func picture(
    _ data: Data,
    _ decoder: JPEGDecoder = own,
    scale: Double = 1e-6,
    lightScale: Double = 1,
  ) throws(ImageError) -> Picture {
    try unsafe read(data, scale, lightScale) { (bytes, request) throws(ImageError) in
      try unsafe decoder.open(bytes, request)
    }
  }

  /// What a prefix of a progressive file shows, and how many scans it has.
  static func preview(_ data: Data) throws(ImageError) -> (picture: Picture, scans: Int)? {
    var scans = 0
    var isThere = false
    do throws(ImageError) {
      let picture = try unsafe read(data, 1e-6, 1) { (bytes, request) throws(ImageError) in
        guard let preview = unsafe own.openPreview(bytes, request) else { return nil }
        isThere = true
        scans = preview.scans
        return preview.rows
      }
      return (picture, scans)
    } catch {
      guard isThere else { return nil }
      throw error
    }
  }

  private static func read(
    _ data: Data,
    _ scale: Double,
    _ lightScale: Double,
    _ open: (UnsafeRawBufferPointer, RowRequest) throws(ImageError) -> (any RowSource)?,
  ) throws(ImageError) -> Picture {
    // The bytes are only read within the closure.
    let result: Result<Picture, ImageError> = unsafe data.withUnsafeBytes { bytes in
      do throws(ImageError) {
        guard let info = try unsafe own.info(of: bytes, format: .jpeg, limits: DecodeLimits()) else {
          throw ImageError(.unsupported, "declined")
        }
        try DecodeLimits().check(info)
        let request = RowRequest(info: info, minimumScale: scale, lightScale: lightScale)
        guard let rows = try unsafe open(bytes, request) else {
          throw ImageError(.unsupported, "declined")
        }
        return .success(try pixels(rows))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private static func pixels(_ rows: any RowSource) throws(ImageError) -> Picture {
    let bytesPerRow = rows.width * 4
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesPerRow * rows.height, alignment: 4)
    defer { unsafe memory.deallocate() }
    var row = 0
    while row < rows.height {
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[(row * bytesPerRow)...])
      // An odd number, so that it does not fall together with the rows of blocks.
      let got = try unsafe rows.read(into: rest, bytesPerRow: bytesPerRow, count: min(5, rows.height - row))
      guard got > 0 else { throw ImageError(.truncated, "row \(row) of \(rows.height)") }
      row += got
    }
    let bitmap = Bitmap.pixels(width: rows.width, height: rows.height, alpha: .opaque) { x, y in
      unsafe memory.loadUnaligned(fromByteOffset: y * bytesPerRow + x * 4, as: SIMD4<UInt8>.self)
    }
    return Picture(bitmap: bitmap, isOwn: rows.isOwn, damage: rows.damage)
  }
}

extension RowSource {
  fileprivate var isOwn: Bool { (self as? ReducedRows).map { !$0.hasFallenBack } ?? false }
}
