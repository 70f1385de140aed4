import CLibAVIF
import VitrineImaging

/// The planes of a picture, shrunk by averaging blocks of samples before they are turned into RGB.
///
/// For a thumbnail of 20 megapixels, turning all pixels into RGB took 10 ms of 200, and then they were averaged. A mean
/// of colours is the colour of the means, except for colours that RGB cannot express. Chroma that has fewer samples is averaged
/// less, so that no plane has fewer here.
@safe
final class AVIFMeans {
  // Owned: made in init, destroyed in deinit.
  let image: UnsafeMutablePointer<avifImage>

  /// Returns the side of the blocks for a request, in pixels; 1 for no blocks.
  static func factor(for request: RowRequest, _ format: avifPixelFormat) -> Int {
    let shift = shifts(of: format)
    // Blocks of whole samples of chroma.
    return request.meanFactor(unit: 1 << max(shift.x, shift.y))
  }

  /// The number of times that chroma's width and height are halved.
  private static func shifts(of format: avifPixelFormat) -> (x: Int, y: Int) {
    switch format {
    case AVIF_PIXEL_FORMAT_YUV420: (1, 1)
    case AVIF_PIXEL_FORMAT_YUV422: (1, 0)
    default: (0, 0)
    }
  }

  /// Shrinks a decoded picture; `nil` if there is no memory, or `factor` was made for another format.
  init?(_ source: UnsafeMutablePointer<avifImage>, factor: Int, _ control: DecodeControl) throws(ImageError) {
    let format = unsafe source.pointee.yuvFormat
    let isGray = format == AVIF_PIXEL_FORMAT_YUV400
    let (shift, depth) = unsafe (Self.shifts(of: format), source.pointee.depth)
    let (width, height) = unsafe (Int(source.pointee.width), Int(source.pointee.height))
    let (meanColumns, meanRows) = ((width + factor - 1) / factor, (height + factor - 1) / factor)
    guard factor % (1 << max(shift.x, shift.y)) == 0,
      let image = unsafe avifImageCreate(
        UInt32(meanColumns),
        UInt32(meanRows),
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
      let (shiftX, shiftY) = plane == 0 ? (0, 0) : shift
      let (columns, rows) = ((width + (1 << shiftX) - 1) >> shiftX, (height + (1 << shiftY) - 1) >> shiftY)
      let box = PlaneMeans(
        width: columns,
        height: rows,
        factorX: factor >> shiftX,
        factorY: factor >> shiftY,
      )
      // Both images have planes as large as they say: libavif made one, and the other was made above.
      if depth > 8 {
        guard let from: Plane<UInt16> = unsafe Self.plane(plane, of: source, columns, rows),
          let to: Plane<UInt16> = unsafe Self.plane(plane, of: image, meanColumns, meanRows)
        else { return nil }
        try box.shrink(from.samples.elements, from.rowLength, into: to.samples, to.rowLength, control)
      } else {
        guard let from: Plane<UInt8> = unsafe Self.plane(plane, of: source, columns, rows),
          let to: Plane<UInt8> = unsafe Self.plane(plane, of: image, meanColumns, meanRows)
        else { return nil }
        try box.shrink(from.samples.elements, from.rowLength, into: to.samples, to.rowLength, control)
      }
    }
  }

  /// The samples of a plane, and their number from one row to the next.
  private typealias Plane<Sample: BitwiseCopyable> = (samples: MutableElements<Sample>, rowLength: Int)

  /// Returns a plane of an image, which has so many columns and rows; `nil` if there is none.
  private static func plane<Sample: BitwiseCopyable>(
    _ index: Int,
    of image: UnsafeMutablePointer<avifImage>,
    _ columns: Int,
    _ rows: Int,
  ) -> Plane<Sample>? {
    let (planes, rowBytes) = unsafe (image.pointee.yuvPlanes, image.pointee.yuvRowBytes)
    let (start, length) = unsafe [(planes.0, rowBytes.0), (planes.1, rowBytes.1), (planes.2, rowBytes.2)][index]
    let rowLength = Int(length) / MemoryLayout<Sample>.size
    guard rowLength >= columns else { return nil }
    let samples = unsafe UnsafeMutableRawPointer(start)?.assumingMemoryBound(to: Sample.self)
    return unsafe samples.map {
      unsafe (MutableElements(UnsafeMutableBufferPointer(start: $0, count: rowLength * rows)), rowLength)
    }
  }

  deinit { unsafe avifImageDestroy(image) }
}
