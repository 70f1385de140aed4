import VitrineRuntime

/// The place of an animation's frame within the picture, and how it is drawn there.
struct FramePlace: Equatable {
  /// The disposal of the frame before the next one is drawn.
  ///
  /// The numbers are APNG's.
  enum Disposal: UInt8 { case none = 0, background, previous }
  /// How the frame meets what is below: it replaces it, or is drawn over it.
  ///
  /// The numbers are APNG's.
  enum Blend: UInt8 { case source = 0, over }

  var left = 0
  var top = 0
  var width: Int
  var height: Int
  var disposal = Disposal.none
  var blend = Blend.source

  /// The number of its pixels, including those outside the picture.
  var pixelCount: Int { width.multipliedSaturating(by: height) }

  /// Returns `true` if the frame is the whole of a picture of this size.
  func covers(_ width: Int, _ height: Int) -> Bool {
    left == 0 && top == 0 && self.width == width && self.height == height
  }

  /// Returns `true` if no pixel of a picture of this size is outside the frame.
  func hides(_ width: Int, _ height: Int) -> Bool {
    left == 0 && top == 0 && self.width >= width && self.height >= height
  }
}

extension [FramePlace] {
  /// Returns the latest frame at which composing `frame` can start on an empty picture, because no earlier one shows.
  func start(for frame: Int, width: Int, height: Int) -> Int {
    for index in stride(from: frame, to: 0, by: -1) {
      let (own, before) = (self[index], self[index - 1])
      // A frame that is disposed of by restoring the previous picture needs that picture.
      if own.hides(width, height), own.blend == .source, index == frame || own.disposal != .previous { return index }
      if before.hides(width, height), before.disposal == .background { return index }
    }
    return 0
  }

  /// Returns `true` if `frame` may leave a part of the picture free, whatever the frames' own pixels are.
  func leavesHoles(at frame: Int, width: Int, height: Int) -> Bool {
    let start = start(for: frame, width: width, height: height)
    return !self[start].hides(width, height) || self[start..<frame].contains { $0.disposal != .none }
  }
}

/// The composed picture of an animation, as a viewer shows it.
struct FrameCanvas {
  private static let batch = 16

  private let width: Int
  private let height: Int
  /// RGBA in memory order, with straight alpha: the memory of the caller, which outlives the canvas.
  private let pixels: MutableElements<UInt8>
  /// The pixels below the last frame, if it is disposed of by restoring them.
  private var saved: OwnedElements<UInt8>?
  private var last: FramePlace?
  /// The number of rows of the last frame that were drawn.
  private(set) var rowsDrawn = 0

  /// `pixels` are `4 * width * height` bytes.
  init(_ pixels: MutableElements<UInt8>, width: Int, height: Int) {
    precondition(pixels.count == 4 * width * height)
    (self.pixels, self.width, self.height) = (pixels, width, height)
  }

  /// Draws a frame; the part outside the picture is not shown.
  ///
  /// `source` has the frame's size.
  mutating func draw(
    _ frame: FramePlace,
    from source: any RowSource,
    format: ImageFormat,
    _ control: DecodeControl,
  ) throws(ImageError) {
    saved = nil
    if frame.disposal == .previous {
      var count = 0
      forEachRow(of: frame) { count += $0.count }
      let memory = OwnedElements<UInt8>(repeating: 0, count: count)
      exchange(frame, memory) { $1.update(from: $0.elements) }
      saved = memory
    }
    let lines = OwnedElements<UInt8>(repeating: 0, count: 4 * frame.width * Self.batch)
    var row = 0
    (last, rowsDrawn) = (frame, 0)
    while row < frame.height {
      try control.check()
      let count = min(Self.batch, frame.height - row)
      let rows = try source.read(into: lines.elements, bytesPerRow: frame.width * 4, count: count)
      guard rows > 0 else {
        throw ImageError(.corrupt, format: format, "corrupt: a frame lacks its last rows")
      }
      for line in 0..<rows { blend(frame, lines.elements.rows(from: line, count: 1, width: frame.width), row + line) }
      row += rows
      rowsDrawn = row
    }
    if let damage = source.damage { throw damage }
  }

  private func blend(_ frame: FramePlace, _ line: MutableElements<UInt8>, _ row: Int) {
    guard frame.top + row < height, frame.left < width else { return }
    let (start, count) = (4 * ((frame.top + row) * width + frame.left), 4 * min(frame.width, width - frame.left))
    let (target, source) = (pixels.extracting(start..<start + count), line.elements.extracting(0..<count))
    guard frame.blend == .over else { return target.update(from: source) }
    for index in stride(from: 0, to: count, by: 4) {
      target.store(
        Self.over(source.load(at: index, as: UInt32.self), target.elements.load(at: index, as: UInt32.self)),
        at: index,
      )
    }
  }

  private static func over(_ source: UInt32, _ below: UInt32) -> UInt32 {
    let (top, bottom) = (UInt32(bigEndian: source), UInt32(bigEndian: below))
    let coverage = top & 255
    if coverage == 255 || bottom & 255 == 0 { return source }
    if coverage == 0 { return below }
    let (share, rest) = (coverage * 255, (bottom & 255) * (255 - coverage))
    let whole = share + rest
    var color = (whole + 127) / 255
    for shift in [8, 16, 24] as [UInt32] {
      let mixed = ((top >> shift & 255) * share + (bottom >> shift & 255) * rest + whole / 2) / whole
      color |= mixed << shift
    }
    return UInt32(bigEndian: color)
  }

  /// Disposes of the last frame as it asks.
  func dispose() {
    guard let frame = last else { return }
    switch frame.disposal {
    case .none: break
    case .previous: if let saved { exchange(frame, saved) { $0.update(from: $1.elements) } }
    case .background: forEachRow(of: frame) { $0.update(repeating: 0) }
    }
  }

  /// Makes all pixels transparent.
  func clear() { pixels.update(repeating: 0) }

  /// Calls `body` with the pixels of each row of a frame that are within the picture.
  private func forEachRow(of frame: FramePlace, _ body: (MutableElements<UInt8>) -> Void) {
    let columns = min(frame.left, width)..<min(frame.left + frame.width, width)
    for row in min(frame.top, height)..<min(frame.top + frame.height, height) {
      body(pixels.extracting(4 * (row * width + columns.lowerBound)..<4 * (row * width + columns.upperBound)))
    }
  }

  /// Calls `body` with the pixels of each such row and with their place in other memory, one row after another.
  private func exchange(
    _ frame: FramePlace,
    _ memory: OwnedElements<UInt8>,
    _ body: (MutableElements<UInt8>, MutableElements<UInt8>) -> Void,
  ) {
    var offset = 0
    forEachRow(of: frame) { row in
      body(row, memory.elements.extracting(offset..<offset + row.count))
      offset += row.count
    }
  }
}
