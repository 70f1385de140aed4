import VitrineRuntime

extension GIFDecoder {
  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let header = try unsafe GIFHeader(ByteReader(bytes))
    guard request.frame > 0 || header.beginsInterlaced else { return DecodeMemory() }
    let picture = 4 * request.info.storedWidth * request.info.storedHeight
    return DecodeMemory(codec: request.frame > 0 && header.savesPicture ? picture : 0, rows: picture)
  }

  /// Opens one frame, composed as a viewer shows it.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    guard request.frame < request.info.frameCount else { throw .noSuchFrame(request.frame, of: request.info) }
    let reader = try unsafe GIFReader(bytes)
    if request.frame == 0 {
      let frame = try reader.nextFrame()
      if !frame.isInterlaced { return GIFRows(reader, frame, request.info) }
      return try unsafe composed(GIFReader(bytes), request)
    }
    return try composed(reader, request)
  }

  private func composed(_ reader: GIFReader, _ request: RowRequest) throws(ImageError) -> HeldRows {
    let (width, height) = (request.info.storedWidth, request.info.storedHeight)
    let limits = request.limits
    try limits.check(heldWidth: width, height: height, format: .gif)
    return unsafe HeldRows(width: width, height: height, hasAlpha: true) { (pixels, wholeRows) throws(ImageError) in
      var canvas = unsafe GIFCanvas(pixels, width: width, height: height)
      // Frames may be larger than the picture; the hidden part must be read too.
      var drawn = 0
      for _ in 0..<request.frame {
        let frame = try reader.nextFrame()
        drawn += frame.width * frame.height
        try limits.check(composed: drawn, format: .gif)
        try canvas.draw(frame, from: reader, request.control)
        canvas.dispose()
      }
      let frame = try reader.nextFrame()
      try limits.check(composed: drawn + frame.width * frame.height, format: .gif)
      // The previous picture stays until the frame's rows replace it.
      wholeRows = height
      if request.frame == 0 {
        try canvas.drawCoarselyFirst(frame, from: reader, request.control, &wholeRows)
      } else {
        try canvas.draw(frame, from: reader, request.control)
      }
    }
  }
}

/// The first frame of a file that is not interlaced: each line gives one row.
private final class GIFRows: RowSource {
  let width: Int
  let height: Int
  let hasAlpha: Bool
  private let reader: GIFReader
  private let frame: GIFFrame
  private var line: [UInt8]
  private var row = 0

  init(_ reader: GIFReader, _ frame: GIFFrame, _ info: ImageInfo) {
    (self.reader, self.frame) = (reader, frame)
    (width, height, hasAlpha) = (info.storedWidth, info.storedHeight, info.hasAlpha)
    line = [UInt8](repeating: 0, count: frame.width)
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    let count = min(count, height - row)
    precondition(count == 0 || rows.count >= bytesPerRow * (count - 1) + width * 4)
    for index in 0..<count {
      let isInFrame = row >= frame.top && row < frame.top + frame.height
      if isInFrame { try reader.readLine(into: &line, row: row) }
      for x in 0..<width {
        let isDrawn = isInFrame && x >= frame.left && x < frame.left + frame.width
        var color = isDrawn ? frame.palette[Int(line[x - frame.left])] : 0
        // Without transparency all pixels must be opaque, whatever a damaged palette leaves undefined.
        if !hasAlpha { color |= GIFFrame.opaqueBlack }
        // In bounds by the precondition.
        unsafe rows.storeBytes(of: color, toByteOffset: index * bytesPerRow + x * 4, as: UInt32.self)
      }
      row += 1
    }
    return count
  }
}

/// The composed picture: frames drawn over one another and disposed of as each asks.
@safe
private struct GIFCanvas {
  let width: Int
  let height: Int
  /// RGBA in memory order: the memory of the caller, which outlives the canvas.
  ///
  /// Every use is within `width` columns and `height` rows.
  private let pixels: UnsafeMutableBufferPointer<UInt32>
  private var saved: [UInt32] = []
  private var last: GIFFrame?

  init(_ pixels: UnsafeMutableRawBufferPointer, width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    precondition(pixels.count == 4 * width * height)
    unsafe self.pixels = pixels.bindMemory(to: UInt32.self)
  }

  mutating func draw(_ frame: GIFFrame, from reader: GIFReader, _ control: DecodeControl) throws(ImageError) {
    if frame.disposal == .restore { saved = unsafe Array(pixels) }
    last = frame
    var line = [UInt8](repeating: 0, count: frame.width)
    for (count, row) in frame.rowOrder.enumerated() {
      if count % 64 == 0 { try control.check() }
      try reader.readLine(into: &line, row: count)
      guard frame.top + row < height else { continue }
      let start = (frame.top + row) * width
      for x in 0..<max(0, min(frame.width, width - frame.left)) {
        let color = frame.palette[Int(line[x])]
        if color != 0 { unsafe pixels[start + frame.left + x] = color }
      }
    }
  }

  /// Draws an interlaced frame onto an empty canvas: each row also fills those below it, until they are read.
  func drawCoarselyFirst(
    _ frame: GIFFrame,
    from reader: GIFReader,
    _ control: DecodeControl,
    _ wholeRows: inout Int,
  ) throws(ImageError) {
    var line = [UInt8](repeating: 0, count: frame.width)
    let columns = max(0, min(frame.width, width - frame.left))
    wholeRows = min(frame.top, height)
    for (count, row) in frame.rowOrder.enumerated() {
      if count % 64 == 0 { try control.check() }
      try reader.readLine(into: &line, row: count)
      // Rows of the first two passes are eight apart, then four, then two.
      let reach = row % 8 == 0 ? 8 : row % 4 == 0 ? 4 : row % 2 == 0 ? 2 : 1
      for target in row..<min(row + reach, frame.height) where frame.top + target < height {
        let start = (frame.top + target) * width + frame.left
        for x in 0..<columns { unsafe pixels[start + x] = frame.palette[Int(line[x])] }
      }
      wholeRows = max(wholeRows, min(frame.top + row + reach, height))
    }
    wholeRows = height
  }

  /// Disposes of the last frame as it asks.
  func dispose() {
    guard let frame = last else { return }
    switch frame.disposal {
    case .keep: break
    case .restore: for index in saved.indices { unsafe pixels[index] = saved[index] }
    case .clear:
      let columns = min(frame.left, width)..<min(frame.left + frame.width, width)
      for row in min(frame.top, height)..<min(frame.top + frame.height, height) {
        for x in columns { unsafe pixels[row * width + x] = 0 }
      }
    }
  }
}
