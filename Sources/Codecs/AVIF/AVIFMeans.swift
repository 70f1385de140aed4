import CLibAVIF
import VitrineImaging

/// The planes of a picture, shrunk by averaging blocks of samples before they are turned into RGB.
///
/// For a thumbnail of 20 megapixels, turning all pixels into RGB took 10 ms of 200, and then they were averaged. A mean
/// of colours is the colour of the means, except for what RGB cannot express. Chroma that has fewer samples is averaged
/// less, so that no plane has fewer here.
@safe
final class AVIFMeans {
  // Owned: made in init, destroyed in deinit.
  let image: UnsafeMutablePointer<avifImage>

  /// Returns the side of the blocks for a request, in pixels; 1 for no blocks.
  static func factor(for request: RowRequest, _ format: avifPixelFormat) -> Int {
    let shift = shifts(of: format)
    // Blocks of whole samples of chroma.
    return PlaneMeans.factor(for: request, unit: 1 << max(shift.x, shift.y))
  }

  /// The number of times that chroma's width and height are halved.
  private static func shifts(of format: avifPixelFormat) -> (x: Int, y: Int) {
    switch format {
    case AVIF_PIXEL_FORMAT_YUV420: (1, 1)
    case AVIF_PIXEL_FORMAT_YUV422: (1, 0)
    default: (0, 0)
    }
  }

  /// Shrinks a decoded picture; `nil` if there is no memory, or its format is not the one that `factor` was made for.
  init?(_ source: UnsafeMutablePointer<avifImage>, factor: Int, _ control: DecodeControl) throws(ImageError) {
    let format = unsafe source.pointee.yuvFormat
    let isGray = format == AVIF_PIXEL_FORMAT_YUV400
    let (shift, depth) = unsafe (Self.shifts(of: format), source.pointee.depth)
    let (width, height) = unsafe (Int(source.pointee.width), Int(source.pointee.height))
    guard factor % (1 << max(shift.x, shift.y)) == 0,
      let image = unsafe avifImageCreate(
        UInt32((width + factor - 1) / factor),
        UInt32((height + factor - 1) / factor),
        depth,
        isGray ? format : AVIF_PIXEL_FORMAT_YUV444,
      )
    else { return nil }
    unsafe self.image = image
    unsafe image.pointee.yuvRange = source.pointee.yuvRange
    unsafe image.pointee.colorPrimaries = source.pointee.colorPrimaries
    unsafe image.pointee.transferCharacteristics = source.pointee.transferCharacteristics
    unsafe image.pointee.matrixCoefficients = source.pointee.matrixCoefficients
    guard unsafe avifImageAllocatePlanes(image, UInt32(AVIF_PLANES_YUV.rawValue)) == AVIF_RESULT_OK else { return nil }
    for plane in 0..<(isGray ? 1 : 3) {
      let (from, to) = unsafe (Self.plane(plane, of: source), Self.plane(plane, of: image))
      guard let source = unsafe from.samples, let target = unsafe to.samples else { return nil }
      let (shiftX, shiftY) = plane == 0 ? (0, 0) : shift
      let box = PlaneMeans(
        width: (width + (1 << shiftX) - 1) >> shiftX,
        height: (height + (1 << shiftY) - 1) >> shiftY,
        factorX: factor >> shiftX,
        factorY: factor >> shiftY,
      )
      // The planes are as large as their image says: that of libavif, and that allocated above.
      let sourceCount = from.rowBytes * ((height + (1 << shiftY) - 1) >> shiftY)
      let input = unsafe UnsafeRawBufferPointer(start: source, count: sourceCount)
      let output = unsafe UnsafeMutableRawBufferPointer(
        start: target,
        count: to.rowBytes * ((height + factor - 1) / factor),
      )
      if depth > 8 {
        try box.shrink(
          unsafe Elements(input.assumingMemoryBound(to: UInt16.self)),
          samplesPerRow: from.rowBytes / 2,
          into: unsafe MutableElements(output.assumingMemoryBound(to: UInt16.self)),
          samplesPerTargetRow: to.rowBytes / 2,
          control,
        )
      } else {
        try box.shrink(
          unsafe Elements(input),
          samplesPerRow: from.rowBytes,
          into: unsafe MutableElements(output),
          samplesPerTargetRow: to.rowBytes,
          control,
        )
      }
    }
  }

  /// Returns the samples of a plane, and the number of bytes from one row to the next.
  private static func plane(
    _ index: Int,
    of image: UnsafeMutablePointer<avifImage>,
  ) -> (samples: UnsafeMutablePointer<UInt8>?, rowBytes: Int) {
    let (planes, rowBytes) = unsafe (image.pointee.yuvPlanes, image.pointee.yuvRowBytes)
    return switch index {
    case 0: unsafe (planes.0, Int(rowBytes.0))
    case 1: unsafe (planes.1, Int(rowBytes.1))
    default: unsafe (planes.2, Int(rowBytes.2))
    }
  }

  deinit { unsafe avifImageDestroy(image) }
}
