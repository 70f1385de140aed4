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
    let info = request.info
    guard request.frame < info.frameCount else { throw .noSuchFrame(request.frame, of: info) }
    let pictures = unsafe GIFPictures(ByteReader(bytes), through: request.frame)
    guard request.frame == 0 else { return try HeldRows.composed(pictures, request) }
    guard let frame = pictures.frames.frames.first else { throw pictures.ending }
    if !frame.isInterlaced { return try GIFRows(pictures.reader(at: 0), frame, info) }
    try request.limits.check(heldWidth: info.storedWidth, height: info.storedHeight, format: .gif)
    try request.limits.check(composed: frame.place.pixelCount, format: .gif)
    return HeldRows(width: info.storedWidth, height: info.storedHeight, hasAlpha: info.hasAlpha) {
      (pixels, wholeRows) throws(ImageError) in
      let canvas = CoarseCanvas(pixels, width: info.storedWidth, height: info.storedHeight)
      try canvas.draw(frame, from: pictures.reader(at: 0), request.control, &wholeRows)
    }
  }
}

/// The frames of a GIF, as giflib reads them.
final class GIFPictures: StoredFrames {
  let frames: GIFFrames
  var places: [FramePlace] { frames.places }
  var ending: ImageError { frames.ending }
  private let bytes: ByteReader
  private var reader: GIFReader?
  /// The frame that the reader read last.
  private var last = -1

  /// `bytes` must stay in place for the life of the pictures.
  init(_ bytes: ByteReader, through last: Int) {
    frames = GIFFrames(bytes, through: last)
    self.bytes = bytes
  }

  /// Returns the reader of a frame's lines.
  func reader(at frame: Int) throws(ImageError) -> GIFReader {
    // giflib remembers each frame that it has read, so that one reader must not read for ever.
    let reader: GIFReader
    if let known = self.reader, frame > last {
      reader = known
    } else {
      reader = try GIFReader(bytes)
    }
    (self.reader, last) = (reader, frame)
    try reader.begin(frames.frames[frame])
    return reader
  }

  func draw(_ frame: Int, onto canvas: inout FrameCanvas, _ request: RowRequest) throws(ImageError) {
    let rows = try GIFFrameRows(reader(at: frame), frames.frames[frame], request.control)
    try canvas.draw(places[frame], from: rows, format: .gif, request.control)
  }
}

extension GIFFrames.Frame {
  /// 256 colours as RGBA in memory order; 0 for the transparent one, and black for undefined ones.
  fileprivate var colors: [UInt32] {
    (0..<256).map { index in
      if index == transparent.map(Int.init) { return 0 }
      guard let red = palette.byte(at: 3 * index),
        let green = palette.byte(at: 3 * index + 1), let blue = palette.byte(at: 3 * index + 2)
      else { return UInt32(bigEndian: 255) }
      return UInt32(bigEndian: UInt32(red) << 24 | UInt32(green) << 16 | UInt32(blue) << 8 | 255)
    }
  }

  /// The rows in the order in which they are stored (GIF89a, appendix E).
  fileprivate var rowOrder: [Int] {
    guard isInterlaced else { return Array(0..<place.height) }
    return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0, to: place.height, by: $1)) }
  }
}

/// The rows of one frame, by itself.
private final class GIFFrameRows: RowSource {
  let width: Int
  let height: Int
  let hasAlpha = true
  private(set) var damage: ImageError?
  private let reader: GIFReader
  private let colors: [UInt32]
  private var line: [UInt8]
  /// The pixels of an interlaced frame, whose rows are not stored from the first to the last.
  private var pixels: [UInt32] = []
  private var row = 0

  init(_ reader: GIFReader, _ frame: GIFFrames.Frame, _ control: DecodeControl) throws(ImageError) {
    (self.reader, colors) = (reader, frame.colors)
    (width, height) = (frame.place.width, frame.place.height)
    line = [UInt8](repeating: 0, count: width)
    guard frame.isInterlaced else { return }
    // What is missing is transparent.
    pixels = [UInt32](repeating: 0, count: width * height)
    for (count, row) in frame.rowOrder.enumerated() {
      if count % 64 == 0 { try control.check() }
      do throws(ImageError) {
        try reader.readLine(into: &line, row: count)
      } catch {
        damage = error
        break
      }
      for x in 0..<width { pixels[row * width + x] = colors[Int(line[x])] }
    }
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    let count = min(count, height - row)
    // As long as its memory.
    let rows = unsafe MutableElements(rows)
    for index in 0..<max(0, count) {
      let target = rows.extracting(index * bytesPerRow..<index * bytesPerRow + width * 4)
      if pixels.isEmpty {
        guard try reader.readLine(into: &line, row: row, after: index) else { return index }
        target.update(indices: line, colors, at: 0)
      } else {
        for x in 0..<width { target.store(pixels[row * width + x], at: x * 4) }
      }
      row += 1
    }
    return max(0, count)
  }
}

/// The first frame of a file that is not interlaced: each line gives one row.
private final class GIFRows: RowSource {
  let width: Int
  let height: Int
  let hasAlpha: Bool
  private let reader: GIFReader
  private let frame: FramePlace
  private let colors: [UInt32]
  private var line: [UInt8]
  private var row = 0

  init(_ reader: GIFReader, _ frame: GIFFrames.Frame, _ info: ImageInfo) {
    (self.reader, self.frame, colors) = (reader, frame.place, frame.colors)
    (width, height, hasAlpha) = (info.storedWidth, info.storedHeight, info.hasAlpha)
    line = [UInt8](repeating: 0, count: frame.place.width)
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    let count = min(count, height - row)
    // As long as its memory.
    let rows = unsafe MutableElements(rows)
    for index in 0..<count {
      let target = rows.extracting(index * bytesPerRow..<index * bytesPerRow + width * 4)
      let isInFrame = row >= frame.top && row < frame.top + frame.height
      if !isInFrame || frame.left > 0 || frame.width < width { target.update(repeating: 0) }
      if isInFrame {
        guard try reader.readLine(into: &line, row: row, after: index) else { return index }
        target.update(indices: line.prefix(max(0, width - frame.left)), colors, at: frame.left)
      }
      row += 1
    }
    return count
  }
}

/// An empty picture, onto which an interlaced frame is drawn coarsely first.
private struct CoarseCanvas {
  let width: Int
  let height: Int
  /// RGBA in memory order: the memory of the caller, which outlives the canvas.
  private let pixels: MutableElements<UInt8>

  init(_ pixels: MutableElements<UInt8>, width: Int, height: Int) {
    precondition(pixels.count == 4 * width * height)
    (self.pixels, self.width, self.height) = (pixels, width, height)
  }

  /// Draws a frame: each row also fills those below it, until they are read.
  func draw(
    _ frame: GIFFrames.Frame,
    from reader: GIFReader,
    _ control: DecodeControl,
    _ wholeRows: inout Int,
  ) throws(ImageError) {
    let (place, colors) = (frame.place, frame.colors)
    var line = [UInt8](repeating: 0, count: place.width)
    let columns = max(0, min(place.width, width - place.left))
    wholeRows = min(place.top, height)
    for (count, row) in frame.rowOrder.enumerated() {
      if count % 64 == 0 { try control.check() }
      try reader.readLine(into: &line, row: count)
      // Rows of the first two passes are eight apart, then four, then two.
      let reach = row % 8 == 0 ? 8 : row % 4 == 0 ? 4 : row % 2 == 0 ? 2 : 1
      for target in row..<min(row + reach, place.height) where place.top + target < height {
        let start = (place.top + target) * width * 4
        pixels.extracting(start..<start + width * 4).update(indices: line.prefix(columns), colors, at: place.left)
      }
      wholeRows = max(wholeRows, min(place.top + row + reach, height))
    }
    wholeRows = height
  }
}

extension MutableElements<UInt8> {
  /// Writes the pixels of indices, from a column on.
  fileprivate func update(indices: some Collection<UInt8>, _ colors: [UInt32], at column: Int) {
    let colors = colors.span
    // One for each index, so that no look-up needs a check.
    precondition(colors.count == 256)
    var offset = 4 * column
    for index in indices {
      store(colors[Int(index)], at: offset)
      offset &+= 4
    }
  }
}
