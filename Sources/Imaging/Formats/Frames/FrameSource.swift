public import VitrineRuntime

/// One frame of an animation, composed as a viewer shows it.
public struct AnimationFrame: Sendable {
  /// The pixels: upright, at the requested size, with straight alpha or opaque.
  public let bitmap: Bitmap
  /// The index of the frame, counted from 0.
  public let index: Int
  /// The duration for which it is shown, in seconds; 0 for a still image.
  public let delay: Double

  package init(bitmap: Bitmap, index: Int, delay: Double) {
    (self.bitmap, self.index, self.delay) = (bitmap, index, delay)
  }
}

/// The frames of an image, decoded one after another at the size they are shown.
///
/// ```swift
/// var frames = try FrameSource(data, DecodeOptions(size: .pixels(300, 300)))
/// while let frame = try frames.next() {
///   show(frame.bitmap, for: frame.delay)
/// }
/// frames.rewind()
/// ```
/// A source keeps a picture of the image's own size, or the state of a codec, on which the next frame builds. So the
/// next frame costs the same whatever its number. Another frame costs as much as those between it and the latest one
/// before it that can be drawn by itself. A still image has one frame.
///
/// It is a value that cannot be copied, so that one caller at a time uses it. All its functions block.
public struct FrameSource: ~Copyable, @unchecked Sendable {
  // Sendable, because what it refers to is reached only through it, it cannot be copied, and its functions mutate it.

  /// The facts in the header.
  public private(set) var info: ImageInfo
  /// The duration of each frame, in seconds: ``ImageInfo/frameCount`` values, 0 for a still image.
  ///
  /// Durations of 0.01 s and less become 0.1 s, as in browsers, and none is longer than a million seconds.
  public private(set) var delays: [Double]
  /// The index of the frame that ``next()`` returns, counted from 0.
  public private(set) var position: Int

  /// True if damage after the first frame ends an encoder's frames and is no error.
  let endsAtDamage: Bool

  private var data: Data
  private let options: DecodeOptions
  private let job: DecodeJob
  private let decoders: DecoderRegistry
  /// The frames that build on one another; `nil` if each is decoded by itself.
  private var composed: Composed?
  /// The session in which another process decodes the frames.
  private let session: FrameSession

  private struct Composed {
    let reader: any FrameReader
    /// The memory that the reader reads from.
    var bytes: PinnedBytes
    let plan: SamplingPlan
    /// An estimate of the bytes that decoding a frame holds.
    var byteCount: Int
    /// An estimate of the bytes that stay from one frame to the next.
    let heldByteCount: Int
  }

  /// Opens the frames of an image, and decodes none.
  ///
  /// Complexity: O(bytes).
  ///
  /// - Parameters:
  ///   - data: The encoded image. The source keeps it.
  ///   - options: The options of every frame. ``DecodeOptions/frame``, ``DecodeOptions/dynamicRange`` and
  ///     ``DecodeOptions/acceptsPartial`` are not used: a frame that is damaged is an error. The time limit is for
  ///     one frame. Defaults to the image's own size.
  ///   - decoders: The decoders. Defaults to ``DecoderRegistry/standard``.
  /// - Throws: ``ImageError`` of any code but `.noSuchFrame` and `.notEncodable`.
  public init(
    _ data: Data,
    _ options: DecodeOptions = DecodeOptions(),
    decoders: DecoderRegistry = .standard,
  ) throws(ImageError) {
    try self.init(data, options, DecodeJob(), decoders: decoders)
  }

  /// As ``init(_:_:decoders:)``, within the memory and on the cores of a job.
  package init(
    _ data: Data,
    _ options: DecodeOptions,
    _ job: DecodeJob,
    decoders: DecoderRegistry,
  ) throws(ImageError) {
    var options = options
    endsAtDamage = options.acceptsPartial
    (options.frame, options.dynamicRange, options.acceptsPartial) = (0, .standard, false)
    let opened = try Self.open(data, options, decoders)
    let isAnimated = opened.info.frameCount > 1
    let delays = isAnimated ? try decoders.frameDelays(of: data, options.limits, known: opened.info) : [0]
    (info, composed, self.delays, position) = (opened.info, opened.composed, delays, 0)
    (self.data, self.options, self.job, self.decoders, session) = (data, options, job, decoders, FrameSession())
  }

  private static func open(
    _ data: Data,
    _ options: DecodeOptions,
    _ decoders: DecoderRegistry,
  ) throws(ImageError) -> (info: ImageInfo, composed: Composed?) {
    let pinned = PinnedBytes(data)
    let limits = options.limits
    // The reader that may leave this call keeps to the pinned bytes, which live as long.
    return try unsafe decoders.find(pinned.bytes, limits) {
      (image) throws(ImageError) -> (info: ImageInfo, composed: Composed?)? in
      switch image {
      case .remote(let image): return try image.answer(DecodeQuestion(.info, limits)).info.map { ($0, nil) }
      case .local(let image):
        let info = image.header
        guard let reader = try image.frames(limits) else { return (info, nil) }
        let plan = try options.plan(for: info)
        var later = options
        later.frame = 1
        let memory = try image.memory(later.request(for: info, plan, DecodeJob()))
        let output = plan.width * plan.height * options.bytesPerPixel
        let count = memory.total(output: output, decodesInPlace: false).addingSaturating(data.count)
        try limits.check(memory: count, of: info)
        let held = memory.codec.addingSaturating(memory.rows)
        return (info, Composed(reader: reader, bytes: pinned, plan: plan, byteCount: count, heldByteCount: held))
      }
    }
  }

  /// Goes on with more bytes of the same file, which is still loading; does nothing if there are no more.
  ///
  /// The canvas stays. An error leaves the source as it was.
  package mutating func extend(to more: Data) throws(ImageError) {
    let growth = more.count - data.count
    guard growth > 0 else { return }
    let info = try decoders.info(of: more, limits: options.limits)
    let delays = try decoders.frameDelays(of: more, options.limits, known: info)
    if var extended = composed {
      let pinned = PinnedBytes(more)
      extended.byteCount = extended.byteCount.addingSaturating(growth)
      try options.limits.check(memory: extended.byteCount, of: info)
      let extends = try unsafe extended.reader.extend(to: pinned.bytes, info)
      extended.bytes = pinned
      composed = extends ? extended : try Self.open(more, options, decoders).composed
    }
    (data, self.info, self.delays) = (more, info, delays)
  }

  /// Decodes the next frame.
  ///
  /// - Returns: The frame; `nil` after the last one.
  /// - Throws: ``ImageError`` of any code but `.notEncodable`. The position stays where it was.
  public mutating func next() throws(ImageError) -> AnimationFrame? {
    guard position < info.frameCount else { return nil }
    return try frame(at: position)
  }

  /// Makes ``next()`` return the frame at an index.
  ///
  /// It costs nothing by itself.
  ///
  /// - Parameter index: The index, counted from 0; ``ImageInfo/frameCount`` is the end.
  /// - Throws: ``ImageError``: `.noSuchFrame`.
  public mutating func seek(to index: Int) throws(ImageError) {
    guard (0...info.frameCount).contains(index) else { throw .noSuchFrame(index, of: info) }
    position = index
  }

  /// Makes ``next()`` return the first frame.
  package mutating func rewind() { position = 0 }

  /// Decodes a frame, and moves the position behind it.
  ///
  /// - Parameters:
  ///   - index: The index, counted from 0.
  ///   - adapt: Changes the options and the job of this frame.
  /// - Returns: The frame.
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  package mutating func frame(
    at index: Int,
    adapt: (inout DecodeOptions, inout DecodeJob) -> Void = { (_, _) in },
  ) throws(ImageError) -> AnimationFrame {
    guard (0..<info.frameCount).contains(index) else { throw .noSuchFrame(index, of: info) }
    var (options, job) = (options, job)
    adapt(&options, &job)
    options.frame = index
    let bitmap: Bitmap
    if let composed {
      bitmap = try Self.bitmap(composed, info, options, job)
    } else {
      var question = DecodeQuestion(.image, options, job)
      question.session = session
      bitmap = try decoders.picture(of: .data(data), question).bitmap
    }
    position = index + 1
    return AnimationFrame(bitmap: bitmap, index: index, delay: delays[index])
  }

  /// The number of bytes of the file.
  package var fileByteCount: Int { data.count }

  /// An estimate of the bytes that the source holds, with the file and a frame.
  package var byteCount: Int { composed?.byteCount ?? data.count }

  /// An estimate of the bytes that the source holds between two frames, without the file.
  var heldByteCount: Int { composed?.heldByteCount ?? 0 }

  private static func bitmap(
    _ composed: Composed,
    _ info: ImageInfo,
    _ options: DecodeOptions,
    _ job: DecodeJob,
  ) throws(ImageError) -> Bitmap {
    var job = job
    try job.begin(options)
    try job.hold(composed.byteCount, output: 4 * composed.plan.width * composed.plan.height, of: info)
    let rows = try composed.reader.open(options.request(for: info, composed.plan, job))
    return try options.renderer(for: info, composed.plan, job).render(rows, acceptsPartial: false).bitmap
  }
}

/// Encoded bytes that stay in one place as long as this lives.
@safe
private final class PinnedBytes: @unchecked Sendable {
  // Sendable, because the bytes are never changed.

  let bytes: UnsafeRawBufferPointer
  private let owner: Any

  init(_ data: Data) {
    // A few bytes are kept within the value itself, which moves. More are in a buffer that is copied before anyone
    // changes it, since this also refers to it.
    guard data.count >= 4096 else {
      let copy = OwnedElements<UInt8>(repeating: 0, count: data.count)
      data.reading { copy.elements.update(from: $0.bytes) }
      unsafe bytes = copy.elements.withUnsafeBytes { UnsafeRawBufferPointer($0) }
      owner = copy
      return
    }
    unsafe bytes = data.withUnsafeBytes { unsafe $0 }
    owner = data
  }
}
