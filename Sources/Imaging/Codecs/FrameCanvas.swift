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

  /// Returns `true` if the frame is the whole of a picture of this size.
  func covers(_ width: Int, _ height: Int) -> Bool {
    left == 0 && top == 0 && self.width == width && self.height == height
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
  private var saved: [UInt32] = []

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
    saved = frame.disposal == .previous ? unsafe Array(pixels) : []
    var lines = [UInt32](repeating: 0, count: frame.width * Self.batch)
    var row = 0
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
  func dispose(_ frame: FramePlace) {
    switch frame.disposal {
    case .none: break
    case .previous: for index in saved.indices { unsafe pixels[index] = saved[index] }
    case .background:
      let columns = min(frame.left, width)..<min(frame.left + frame.width, width)
      for row in min(frame.top, height)..<min(frame.top + frame.height, height) {
        for x in columns { unsafe pixels[row * width + x] = 0 }
      }
    }
  }
}
