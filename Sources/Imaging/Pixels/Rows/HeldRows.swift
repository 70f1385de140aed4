import VitrineRuntime

/// Rows of a frame whose codec can decode it only as a whole.
///
/// Nothing is decoded before the first row is read. A caller that needs all rows as they are calls ``decode(into:)``,
/// which avoids a second copy.
package final class HeldRows: RowSource {
  /// Writes all bytes of the pixels, which are zero before.
  ///
  /// Counts the whole rows from the top, for the case that it throws.
  package typealias Fill = (_ pixels: MutableElements<UInt8>, _ wholeRows: inout Int) throws(ImageError) -> Void

  package let width: Int
  package let height: Int
  package let hasAlpha: Bool
  package let extentWidth: Double
  package let extentHeight: Double
  package let origin: (x: Int, y: Int)
  package let colorSpace: ColorSpace?
  package let isUpright: Bool
  package let isAveraged: Bool
  /// The damage known at the start, or the failure of the first read.
  package var damage: ImageError? { failure ?? knownDamage }
  private let knownDamage: ImageError?
  private let fill: Fill
  private let bytesPerPixel: Int
  /// The rows, from the first read on.
  private var pixels: ZeroedMemory?
  private var wholeRows = 0
  private var failure: ImageError?
  private var row = 0

  /// Makes rows that `fill` decodes.
  ///
  /// `part` places the rows within a picture of another size; `damage` is known before a row is read. Pixels of eight
  /// bytes are for ``HighRangeRows``.
  package init(
    width: Int,
    height: Int,
    hasAlpha: Bool,
    part: (x: Int, y: Int, ofWidth: Int, height: Int)? = nil,
    damage: ImageError? = nil,
    colorSpace: ColorSpace? = nil,
    isUpright: Bool = false,
    isAveraged: Bool = false,
    bytesPerPixel: Int = 4,
    fill: @escaping Fill,
  ) {
    self.bytesPerPixel = bytesPerPixel
    knownDamage = damage
    (self.colorSpace, self.isUpright, self.isAveraged) = (colorSpace, isUpright, isAveraged)
    origin = part.map { ($0.x, $0.y) } ?? (0, 0)
    extentWidth = Double(part?.ofWidth ?? width)
    extentHeight = Double(part?.height ?? height)
    (self.width, self.height, self.hasAlpha) = (width, height, hasAlpha)
    self.fill = fill
  }

  /// Decodes into `target`, whose `4 * width * height` bytes may be uninitialised.
  ///
  /// - Returns: The number of whole rows, and the failure after them.
  func decode(into target: MutableElements<UInt8>) -> (wholeRows: Int, failure: ImageError?) {
    precondition(target.count == 4 * width * height)
    target.update(repeating: 0)
    return decode(intoZeros: target)
  }

  private func decode(intoZeros target: MutableElements<UInt8>) -> (wholeRows: Int, failure: ImageError?) {
    var wholeRows = 0
    do throws(ImageError) {
      try fill(target, &wholeRows)
      return (height, nil)
    } catch {
      return (wholeRows, error)
    }
  }

  package func read(into target: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int
  {
    if pixels == nil {
      let memory = ZeroedMemory(byteCount: bytesPerPixel * width * height)
      pixels = memory
      (wholeRows, failure) = decode(intoZeros: memory.elements)
    }
    let count = min(count, wholeRows - row)
    if count <= 0, let failure { throw failure }
    let length = bytesPerPixel * width
    guard count > 0, let source = pixels?.elements.extracting(row * length..<(row + count) * length) else { return 0 }
    unsafe MutableElements(target).update(rows: count, of: source.elements, bytesPerRow: bytesPerRow)
    row += count
    return count
  }
}

extension ZeroedMemory {
  /// The bytes, valid while this object lives.
  var elements: MutableElements<UInt8> { unsafe MutableElements(bytes) }
}

extension UnsafeMutableRawBufferPointer {
  /// Returns the memory of `count` rows of `width` pixels without gaps.
  package func rows(from first: Int, count: Int, width: Int) -> UnsafeMutableRawBufferPointer {
    precondition(first >= 0 && count >= 0 && width >= 0 && (first + count) * width * 4 <= self.count)
    // In bounds by the line above.
    return unsafe UnsafeMutableRawBufferPointer(rebasing: self[first * width * 4..<(first + count) * width * 4])
  }
}

extension ImageError {
  package static func noSuchFrame(_ frame: Int, of info: ImageInfo) -> ImageError {
    let has = info.frameCount == 1 ? "there is 1 frame" : "there are \(info.frameCount) frames"
    return ImageError(.noSuchFrame, format: info.format, "no frame \(frame): \(has), counted from 0")
  }
}

extension MutableElements<UInt8> {
  /// Makes premultiplied RGBA straight, in place.
  ///
  /// Complexity: O(pixels).
  package func unpremultiply() {
    updateEachPixel { pixel in
      guard pixel.w < 255 else { return pixel }
      let wide = SIMD4<UInt16>(truncatingIfNeeded: pixel)
      // A colour above its coverage is invalid and is clamped.
      let straight =
        pixel.w == 0 ? SIMD4<UInt16>() : (pointwiseMin(wide, SIMD4(repeating: wide.w)) &* 255 &+ wide.w / 2) / wide.w
      var color = SIMD4<UInt8>(truncatingIfNeeded: straight)
      color.w = pixel.w
      return color
    }
  }
}
