import VitrineRuntime

/// The place of an animation's frame within the picture, and how it is drawn there.
struct FramePlace: Equatable {
  /// The disposal of the frame before the next one is drawn.
  ///
  /// The numbers are those of APNG.
  enum Disposal: UInt8 { case none = 0, background, previous }
  /// How the frame meets what is below: it replaces it, or is drawn over it.
  ///
  /// The numbers are those of APNG.
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
@safe
struct FrameCanvas {
  private static let batch = 16

  private let width: Int
  private let height: Int
  /// RGBA in memory order, with straight alpha: the memory of the caller, which outlives the canvas.
  private let pixels: UnsafeMutableBufferPointer<UInt32>
  /// The pixels below the last frame, if it is disposed of by restoring them.
  private var saved: [UInt32] = []
  private var last: FramePlace?
  /// The number of rows of the last frame that were drawn.
  private(set) var rowsDrawn = 0

  /// `pixels` are `4 * width * height` bytes.
  init(_ pixels: UnsafeMutableRawBufferPointer, width: Int, height: Int) {
    precondition(pixels.count == 4 * width * height)
    (self.width, self.height) = (width, height)
    unsafe self.pixels = pixels.bindMemory(to: UInt32.self)
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
    saved.removeAll(keepingCapacity: true)
    if frame.disposal == .previous {
      forEachRow(of: frame) { row in unsafe saved.append(contentsOf: pixels[row]) }
    }
    var lines = [UInt32](repeating: 0, count: frame.width * Self.batch)
    var row = 0
    (last, rowsDrawn) = (frame, 0)
    while row < frame.height {
      try control.check()
      let count = min(Self.batch, frame.height - row)
      let got: Result<Int, ImageError> = unsafe lines.withUnsafeMutableBytes { bytes in
        do throws(ImageError) {
          return .success(try unsafe source.read(into: bytes, bytesPerRow: frame.width * 4, count: count))
        } catch {
          return .failure(error)
        }
      }
      let rows = try got.get()
      guard rows > 0 else {
        throw ImageError(.corrupt, format: format, "corrupt: a frame lacks its last rows")
      }
      for line in 0..<rows { blend(frame, lines[line * frame.width..<(line + 1) * frame.width], row + line) }
      row += rows
      rowsDrawn = row
    }
    if let damage = source.damage { throw damage }
  }

  private func blend(_ frame: FramePlace, _ line: ArraySlice<UInt32>, _ row: Int) {
    guard frame.top + row < height, frame.left < width else { return }
    var target = (frame.top + row) * width + frame.left
    for source in line.prefix(width - frame.left) {
      // Within the row of the picture by the lines above.
      unsafe pixels[target] = frame.blend == .source ? source : Self.over(source, pixels[target])
      target += 1
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
    case .previous:
      var offset = 0
      forEachRow(of: frame) { row in
        for index in row {
          unsafe pixels[index] = saved[offset]
          offset += 1
        }
      }
    case .background: forEachRow(of: frame) { row in unsafe pixels[row].update(repeating: 0) }
    }
  }

  /// Makes all pixels transparent.
  func clear() { unsafe pixels.update(repeating: 0) }

  /// Calls `body` with the pixels of each row of a frame that are within the picture.
  private func forEachRow(of frame: FramePlace, _ body: (Range<Int>) -> Void) {
    let columns = min(frame.left, width)..<min(frame.left + frame.width, width)
    for row in min(frame.top, height)..<min(frame.top + frame.height, height) {
      body(row * width + columns.lowerBound..<row * width + columns.upperBound)
    }
  }
}
