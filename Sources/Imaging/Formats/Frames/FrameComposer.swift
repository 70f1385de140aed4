import VitrineRuntime

/// The frames of a file as they are stored: pictures with places on a canvas.
protocol StoredFrames {
  /// The places of the frames that the file has, in order.
  var places: [FramePlace] { get }
  /// The reason why there are no more frames.
  var ending: ImageError { get }

  /// Draws a frame at its place.
  ///
  /// The limits of the request are checked before.
  func draw(_ frame: Int, onto canvas: inout FrameCanvas, _ request: RowRequest) throws(ImageError)
}

/// Draws the frames of an animation over one another, as a viewer shows them.
///
/// The next frame costs what its own pixels cost. Another one starts at the latest frame before it that hides all
/// others.
struct FrameComposer {
  /// The frames, which more of the same may replace.
  var frames: any StoredFrames
  private let width: Int
  private let height: Int
  private var canvas: FrameCanvas
  /// The frame that the canvas shows; `nil` for none, and after an error.
  private var shown: Int?
  /// True if there may be pixels on the canvas.
  private var isDirty = false
  /// The number of rows from the top that are as the last frame has them, also after an error.
  private(set) var wholeRows = 0

  /// `pixels` are `4 * width * height` bytes, zero at first, which outlive the composer.
  init(_ frames: any StoredFrames, on pixels: MutableElements<UInt8>, width: Int, height: Int) {
    (self.frames, self.width, self.height) = (frames, width, height)
    canvas = FrameCanvas(pixels, width: width, height: height)
  }

  /// Draws a frame and those below it that are not there yet.
  mutating func show(_ request: RowRequest) throws(ImageError) {
    let (frame, places) = (request.frame, frames.places)
    guard frame < places.count else { throw frames.ending }
    guard shown != frame else { return }
    let start = places.start(for: frame, width: width, height: height)
    let following = shown.map { $0 + 1 }.flatMap { (start...frame).contains($0) ? $0 : nil }
    let next = following ?? start
    let count = places[next...frame].reduce(0) { $0.addingSaturating($1.pixelCount) }
    try request.limits.check(composed: count, format: request.info.format)
    // From here on, the canvas changes.
    if following != nil { canvas.dispose() } else if isDirty { canvas.clear() }
    (shown, isDirty, wholeRows) = (nil, true, 0)
    for index in next..<frame {
      try frames.draw(index, onto: &canvas, request)
      canvas.dispose()
    }
    let isAlone = next == frame
    // If the frame is truncated, the previous picture stays where its rows are missing.
    defer { wholeRows = isAlone ? min(height, places[frame].top + canvas.rowsDrawn) : height }
    try frames.draw(frame, onto: &canvas, request)
    shown = frame
  }
}

/// The frames of an animation on a canvas that stays from one to the next.
final class CanvasFrames: FrameReader {
  /// Reads the frames of a file.
  typealias Reading = (ByteReader, ImageInfo) -> any StoredFrames

  private let info: ImageInfo
  private let read: Reading
  private var hasAlpha: Bool
  /// The canvas: RGBA with straight alpha.
  private let memory: ZeroedMemory
  private var composer: FrameComposer

  /// Makes a reader of the frames that `read` reads of `bytes`.
  init(
    _ bytes: ByteReader,
    _ info: ImageInfo,
    _ limits: DecodeLimits,
    read: @escaping Reading,
  ) throws(ImageError) {
    let (width, height) = (info.storedWidth, info.storedHeight)
    try limits.check(heldWidth: width, height: height, format: info.format)
    let frames = read(bytes, info)
    (self.info, self.read) = (info, read)
    hasAlpha = try Self.hasAlpha(frames, info)
    memory = ZeroedMemory(byteCount: 4 * width * height)
    composer = FrameComposer(frames, on: memory.elements, width: width, height: height)
  }

  func extend(to bytes: UnsafeRawBufferPointer, _ info: ImageInfo) throws(ImageError) -> Bool {
    guard (info.storedWidth, info.storedHeight) == (self.info.storedWidth, self.info.storedHeight) else { return false }
    let frames = unsafe read(ByteReader(bytes), info)
    hasAlpha = try Self.hasAlpha(frames, info)
    composer.frames = frames
    return true
  }

  /// Returns true if a frame has a hole.
  ///
  /// Then all frames have straight alpha, so that they are alike.
  private static func hasAlpha(_ frames: any StoredFrames, _ info: ImageInfo) throws(ImageError) -> Bool {
    guard let first = frames.places.first else { throw frames.ending }
    return info.hasAlpha || !first.hides(info.storedWidth, info.storedHeight)
      || frames.places.contains { $0.disposal != .none }
  }

  func open(_ request: RowRequest) throws(ImageError) -> any RowSource {
    try composer.show(request)
    return MemoryRows(memory, width: info.storedWidth, height: info.storedHeight, hasAlpha: hasAlpha)
  }
}

/// The rows of a canvas.
private final class MemoryRows: RowSource {
  let width: Int
  let height: Int
  let hasAlpha: Bool
  private let memory: ZeroedMemory
  private var row = 0

  init(_ memory: ZeroedMemory, width: Int, height: Int, hasAlpha: Bool) {
    precondition(memory.elements.count == 4 * width * height)
    (self.memory, self.width, self.height, self.hasAlpha) = (memory, width, height, hasAlpha)
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    let count = min(count, height - row)
    guard count > 0 else { return 0 }
    let source = memory.elements.rows(from: row, count: count, width: width)
    unsafe MutableElements(rows).update(rows: count, of: source.elements, bytesPerRow: bytesPerRow)
    row += count
    return count
  }
}

extension HeldRows {
  /// Returns one frame of an animation, composed with those before it.
  static func composed(_ frames: any StoredFrames, _ request: RowRequest) throws(ImageError) -> HeldRows {
    let (info, frame) = (request.info, request.frame)
    let (width, height) = (info.storedWidth, info.storedHeight)
    try request.limits.check(heldWidth: width, height: height, format: info.format)
    let places = frames.places
    guard frame < places.count else { throw frames.ending }
    let drawn = places[places.start(for: frame, width: width, height: height)...frame]
    let pixelCount = drawn.reduce(0) { $0.addingSaturating($1.pixelCount) }
    try request.limits.check(composed: pixelCount, format: info.format)
    let hasAlpha = info.hasAlpha || places.leavesHoles(at: frame, width: width, height: height)
    return HeldRows(width: width, height: height, hasAlpha: hasAlpha) { (pixels, wholeRows) throws(ImageError) in
      var composer = FrameComposer(frames, on: pixels, width: width, height: height)
      defer { wholeRows = composer.wholeRows }
      try composer.show(request)
    }
  }
}
