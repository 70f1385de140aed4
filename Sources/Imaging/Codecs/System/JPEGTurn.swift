import CVitrineCodecs
package import VitrineRuntime

/// A turn of a picture that its file can take without loss: a transposition, and mirrors after it.
package struct JPEGTurn: Sendable, Equatable {
  /// True if rows become columns.
  private(set) var transposes: Bool
  /// True if the picture is mirrored left to right, and top to bottom, after that.
  private(set) var mirrorsX, mirrorsY: Bool

  /// Makes the turn that shows a stored picture upright, and then turns that once more.
  package init(_ orientation: Orientation, then turn: Orientation = .up) {
    (transposes, mirrorsX, mirrorsY) = Self.parts(of: orientation)
    let next = Self.parts(of: turn)
    if next.transposes { (transposes, mirrorsX, mirrorsY) = (!transposes, mirrorsY, mirrorsX) }
    (mirrorsX, mirrorsY) = (mirrorsX != next.mirrorsX, mirrorsY != next.mirrorsY)
  }

  private static func parts(of orientation: Orientation) -> (transposes: Bool, mirrorsX: Bool, mirrorsY: Bool) {
    // The place of the first pixel, and whether rows stay rows, tell the turn.
    let first = orientation.upright(x: 0, y: 0, width: 2, height: 2)
    return (orientation.swapsAxes, first.x > 0, first.y > 0)
  }

  /// True for each axis of the stored picture whose pixels change their order.
  fileprivate var reversed: (columns: Bool, rows: Bool) {
    transposes ? (mirrorsY, mirrorsX) : (mirrorsX, mirrorsY)
  }

  /// Crops and turns a JPEG by its coefficients, with all its metadata, which describe the new picture then.
  ///
  /// Blocks for as long as reading and writing its entropy-coded data takes, and holds two bytes a sample twice.
  ///
  /// - Parameters:
  ///   - data: The file.
  ///   - part: The part that is kept, in pixels of the upright picture. Defaults to `nil`: all of it.
  ///   - limits: The limits; a picture of more pixels than may be held is refused. Defaults to `DecodeLimits()`.
  /// - Returns: The new file; `nil` if an edge that becomes the left or the upper one is not on the border of a unit of blocks.
  /// - Throws: ``ImageError`` if the file is damaged or too large, or has further pictures behind the first (CIPA DC-007),
  ///   such as a gain map, which would be lost.
  package func turned(
    _ data: Data,
    keeping part: PixelRegion? = nil,
    limits: DecodeLimits = DecodeLimits(),
  ) throws(ImageError) -> Data? {
    let info = try Self.info(of: data, limits)
    let all = PixelRegion(x: 0, y: 0, width: info.width, height: info.height)
    let kept = part ?? all
    guard kept.clipped(width: info.width, height: info.height) == kept else {
      throw ImageError(.invalidSize, format: .jpeg, "\(kept) is no part of \(info.width)x\(info.height) pixels")
    }
    let stored = info.stored(kept)
    var out = unsafe vitrine_encoded()
    let shape = vitrine_jpeg_part(
      left: UInt32(stored.x),
      top: UInt32(stored.y),
      width: UInt32(stored.width),
      height: UInt32(stored.height),
      transposes: transposes ? 1 : 0,
      mirrors_x: mirrorsX ? 1 : 0,
      mirrors_y: mirrorsY ? 1 : 0,
    )
    // The shim reads the bytes within the call.
    let status = data.reading { bytes in
      unsafe bytes.bytes.withUnsafeBufferPointer {
        unsafe vitrine_jpeg_turn($0.baseAddress, $0.count, shape, &out)
      }
    }
    if status == VITRINE_JPEG_NOT_WHOLE { return nil }
    guard status == VITRINE_OK, let bytes = unsafe out.bytes else {
      let message = unsafe withUnsafeBytes(of: out.message) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw ImageError(.corrupt, format: .jpeg, "corrupt: \(message)")
    }
    // The shim passes on the bytes, which the data frees.
    let file = unsafe Data(bytesNoCopy: bytes, count: Int(out.length), deallocator: .free)
    let (width, height) = transposes ? (stored.height, stored.width) : (stored.width, stored.height)
    return JPEGMetadata.updated(file, width: width, height: height, limit: limits.metadataByteCount)
  }

  /// Returns the facts of a JPEG that can be turned.
  fileprivate static func info(of data: Data, _ limits: DecodeLimits) throws(ImageError) -> ImageInfo {
    let info = try DecoderRegistry.standard.info(of: data, limits: limits)
    guard info.format == .jpeg, info.width.multipliedSaturating(by: info.height) <= limits.heldPixelCount else {
      throw ImageError(.overLimit, format: info.format, limit: .heldPixelCount, "too large to be turned")
    }
    let hasMore = data.reading {
      JPEGMetadata.segments($0).contains { $0.number == 2 && $0.body.starts(with: "MPF\0") }
    }
    guard !hasMore else {
      throw ImageError(.unsupported, format: .jpeg, "unsupported: a second picture in the file would be lost")
    }
    return info
  }
}

/// The units of blocks of a JPEG, between which it can be cropped without loss.
package struct JPEGUnits: Sendable {
  private let info: ImageInfo
  /// The size of a unit, in stored pixels.
  private let unit: (width: Int, height: Int)

  /// Reads the header of a JPEG that can be cropped.
  ///
  /// - Throws: ``ImageError``, as ``JPEGTurn/turned(_:keeping:limits:)``, apart from damage behind the header.
  package init(_ data: Data, limits: DecodeLimits = DecodeLimits()) throws(ImageError) {
    info = try JPEGTurn.info(of: data, limits)
    unit = try data.reading { (bytes) throws(ImageError) in try JPEGHeader(bytes, metadataLimit: 0).unit }
  }

  /// Returns the nearest part that the file can keep without loss, if it is turned as well.
  ///
  /// - Parameters:
  ///   - part: The part, in pixels of the upright picture.
  ///   - turn: The turn.
  ///   - keepsSize: A Boolean value that indicates whether the part is moved, and not enlarged.
  /// - Returns: The part; `nil` if there is none.
  package func nearest(to part: PixelRegion, _ turn: JPEGTurn, keepsSize: Bool) -> PixelRegion? {
    guard let part = part.clipped(width: info.width, height: info.height) else { return nil }
    let stored = info.stored(part)
    let columns = Self.side(
      stored.x..<stored.x + stored.width,
      of: info.storedWidth,
      unit.width,
      isReversed: turn.reversed.columns,
      keepsSize,
    )
    let rows = Self.side(
      stored.y..<stored.y + stored.height,
      of: info.storedHeight,
      unit.height,
      isReversed: turn.reversed.rows,
      keepsSize,
    )
    guard let columns, let rows else { return nil }
    let corners = [(columns.lowerBound, rows.lowerBound), (columns.upperBound - 1, rows.upperBound - 1)].map {
      info.orientation.upright(x: $0.0, y: $0.1, width: info.storedWidth, height: info.storedHeight)
    }
    let (left, top) = (min(corners[0].x, corners[1].x), min(corners[0].y, corners[1].y))
    return PixelRegion(
      x: left,
      y: top,
      width: abs(corners[0].x - corners[1].x) + 1,
      height: abs(corners[0].y - corners[1].y) + 1,
    )
  }

  /// Returns a range whose first pixel, or whose last one in reverse, is at the border of a unit.
  private static func side(
    _ range: Range<Int>,
    of length: Int,
    _ unit: Int,
    isReversed: Bool,
    _ keepsSize: Bool,
  ) -> Range<Int>? {
    guard isReversed else {
      let start = range.lowerBound / unit * unit
      return start..<(keepsSize ? start + range.count : range.upperBound)
    }
    let end = min((range.upperBound + unit - 1) / unit, length / unit) * unit
    guard end > 0 else { return nil }
    // Pixels behind the last whole unit cannot come first.
    let start = keepsSize ? end - range.count : min(range.lowerBound, end - 1)
    return max(0, start)..<end
  }
}

extension ImageInfo {
  /// Returns the stored pixels of a part of the upright picture.
  fileprivate func stored(_ part: PixelRegion) -> PixelRegion {
    let upright = PixelRect(
      x: Double(part.x),
      y: Double(part.y),
      width: Double(part.width),
      height: Double(part.height),
    )
    let stored = orientation.stored(upright, width: Double(storedWidth), height: Double(storedHeight))
    return PixelRegion(x: Int(stored.x), y: Int(stored.y), width: Int(stored.width), height: Int(stored.height))
  }
}
