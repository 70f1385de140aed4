/// Rows of a frame that its codec can only give whole.
///
/// Nothing is decoded before the first row is read. Whoever wants all rows as they are has them decoded straight into
/// their place with ``decode(into:)``, and no second copy is made.
@safe
package final class HeldRows: RowSource {
  /// Writes all `4 * width * height` bytes, which are zero before, and keeps count of the rows that are whole from the top
  /// in case it throws.
  package typealias Fill = (_ pixels: UnsafeMutableRawBufferPointer, _ wholeRows: inout Int) throws(ImageError) -> Void

  package let width: Int
  package let height: Int
  package let hasAlpha: Bool
  package let extentWidth: Double
  package let extentHeight: Double
  package let origin: (x: Int, y: Int)
  /// What was given to begin with, or what the first read found.
  package var damage: ImageError? { failure ?? knownDamage }
  private let knownDamage: ImageError?
  private let fill: Fill
  // Owned: allocated at the first read, freed in deinit, used by one thread at a time.
  private var pixels: UnsafeMutableRawBufferPointer?
  private var wholeRows = 0
  private var failure: ImageError?
  private var row = 0

  /// `part` is what the rows are of a picture of another size; `damage` is known before a row is read.
  package init(
    width: Int,
    height: Int,
    hasAlpha: Bool,
    part: (x: Int, y: Int, ofWidth: Int, height: Int)? = nil,
    damage: ImageError? = nil,
    fill: @escaping Fill,
  ) {
    knownDamage = damage
    origin = part.map { ($0.x, $0.y) } ?? (0, 0)
    extentWidth = Double(part?.ofWidth ?? width)
    extentHeight = Double(part?.height ?? height)
    (self.width, self.height, self.hasAlpha) = (width, height, hasAlpha)
    unsafe pixels = nil
    unsafe self.fill = fill
  }

  deinit { unsafe pixels?.deallocate() }

  /// Decodes into `target`, whose `4 * width * height` bytes need not be defined before.
  ///
  /// - Returns: How many rows are whole, and what went wrong behind them.
  func decode(into target: UnsafeMutableRawBufferPointer) -> (wholeRows: Int, failure: ImageError?) {
    precondition(target.count == 4 * width * height)
    unsafe target.initializeMemory(as: UInt8.self, repeating: 0)
    var wholeRows = 0
    do throws(ImageError) {
      try unsafe fill(target, &wholeRows)
      return (height, nil)
    } catch {
      return (wholeRows, error)
    }
  }

  package func read(into target: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int
  {
    if unsafe pixels == nil {
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 * width * height, alignment: 64)
      unsafe pixels = memory
      (wholeRows, failure) = unsafe decode(into: memory)
    }
    let count = min(count, wholeRows - row)
    if count <= 0, let failure { throw failure }
    guard count > 0, let source = unsafe pixels?.baseAddress, let start = target.baseAddress else { return 0 }
    precondition(target.count >= bytesPerRow * (count - 1) + width * 4)
    for index in 0..<count {
      // Within `target` by the line above, within `pixels` because `row + count` is at most `height`.
      unsafe (start + index * bytesPerRow).copyMemory(from: source + (row + index) * width * 4, byteCount: width * 4)
    }
    row += count
    return count
  }
}

extension UnsafeMutableRawBufferPointer {
  /// The memory of some rows of `width` pixels without a gap between them.
  ///
  /// Bounds are checked by the slice.
  package func rows(from first: Int, count: Int, width: Int) -> UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(rebasing: self[first * width * 4..<(first + count) * width * 4])
  }
}

extension ImageError {
  package static func noSuchFrame(_ frame: Int, of info: ImageInfo) -> ImageError {
    let has = info.frameCount == 1 ? "there is 1 frame" : "there are \(info.frameCount) frames"
    return ImageError(.noSuchFrame, format: info.format, "no frame \(frame): \(has), counted from 0")
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Makes colours that are multiplied by their coverage straight: RGBA, in place.
  ///
  /// Complexity: O(pixels).
  package func unpremultiply() {
    for offset in stride(from: 0, to: count - 3, by: 4) {
      // Four bytes from `offset` are within the memory by the stride.
      let pixel = unsafe loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
      guard pixel.w < 255 else { continue }
      let wide = SIMD4<UInt16>(truncatingIfNeeded: pixel)
      // A colour above its coverage makes no sense and is cut to it.
      let straight =
        pixel.w == 0 ? SIMD4<UInt16>() : (pointwiseMin(wide, SIMD4(repeating: wide.w)) &* 255 &+ wide.w / 2) / wide.w
      var color = SIMD4<UInt8>(truncatingIfNeeded: straight)
      color.w = pixel.w
      unsafe storeBytes(of: color, toByteOffset: offset, as: SIMD4<UInt8>.self)
    }
  }
}
