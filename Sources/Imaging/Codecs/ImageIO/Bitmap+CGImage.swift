public import CoreGraphics
import VitrineRuntime

extension Bitmap {
  /// The pixels as an image of CoreGraphics, which shares them; `nil` if CoreGraphics refuses, for lack of memory.
  ///
  /// Nothing is copied: the image keeps the pixels alive. Complexity: O(1).
  public var cgImage: CGImage? {
    let info: CGImageAlphaInfo =
      switch alpha {
      case .opaque: .noneSkipLast
      case .straight: .last
      case .premultiplied: .premultipliedLast
      }
    guard let provider = storage.provider else { return nil }
    return unsafe CGImage(
      width: width,
      height: height,
      bitsPerComponent: 8,
      bitsPerPixel: 32,
      bytesPerRow: bytesPerRow,
      space: colorSpace.platform,
      bitmapInfo: CGBitmapInfo(rawValue: info.rawValue | CGBitmapInfo.byteOrder32Big.rawValue),
      provider: provider,
      decode: nil,
      shouldInterpolate: true,
      intent: .defaultIntent,
    )
  }

  /// Makes a bitmap of an image of CoreGraphics, decoded, upright and in a colour space of Vitrine's.
  ///
  /// Pixels are copied once. Blocks until done, and decodes an image that is not decoded yet. So this is also what
  /// `preparingForDisplay` is for: the result never decodes when it is shown.
  ///
  /// - Parameters:
  ///   - image: The image, in any format.
  ///   - orientation: The transform to the upright image. Defaults to none.
  ///   - size: The requested size; resized with the filter that all of Vitrine uses. Defaults to `nil`: the image's.
  ///   - colorSpace: The colour space of the result. Defaults to sRGB.
  ///   - limits: The limits. Defaults to ``DecodeLimits``' defaults.
  /// - Throws: ``ImageError`` of code `.overLimit`, `.outOfTime` or `.invalidSize`.
  public init(
    _ image: CGImage,
    orientation: Orientation = .up,
    size: TargetSize? = nil,
    colorSpace: ColorSpace = .sRGB,
    limits: DecodeLimits = DecodeLimits(),
  ) throws(ImageError) {
    try self.init(image, orientation, size, colorSpace, limits, isCancelled: nil)
  }

  private init(
    _ image: CGImage,
    _ orientation: Orientation,
    _ size: TargetSize?,
    _ colorSpace: ColorSpace,
    _ limits: DecodeLimits,
    isCancelled: (@Sendable () -> Bool)?,
  ) throws(ImageError) {
    let info = ImageInfo(
      format: .bitmap,
      storedWidth: image.width,
      storedHeight: image.height,
      orientation: orientation,
    )
    try limits.check(info)
    var options = DecodeOptions(size: size)
    (options.colorSpace, options.limits, options.isCancelled) = (colorSpace, limits, isCancelled)
    let plan = try options.plan(for: info)
    var job = DecodeJob()
    try job.begin(options)
    // A copy of the image's bytes, and the rows.
    let held = 8.multipliedSaturating(by: image.width.multipliedSaturating(by: image.height))
    try limits.check(memory: held.addingSaturating(4 * plan.width * plan.height), of: info)
    let rows = ImageIORows.rows(of: image, colorSpace, isUpright: false, hasProfile: false)
    self = try options.renderer(for: info, plan, job).render(rows, acceptsPartial: false).bitmap
  }

  /// Makes a bitmap on a background thread; see ``init(_:orientation:size:colorSpace:limits:)``.
  ///
  /// Returns at once.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - orientation: The transform to the upright image. Defaults to none.
  ///   - size: The requested size. Defaults to `nil`: the image's.
  ///   - colorSpace: The colour space of the result. Defaults to sRGB.
  ///   - completion: Called once, on any thread.
  /// - Returns: The task, for cancelling; may be discarded.
  @discardableResult
  public static func prepare(
    _ image: CGImage,
    orientation: Orientation = .up,
    size: TargetSize? = nil,
    colorSpace: ColorSpace = .sRGB,
    completion: @escaping @Sendable (Result<Bitmap, ImageError>) -> Void,
  ) -> DecodeTask {
    BackgroundWork.start(nil, completion) { (isCancelled) throws(ImageError) in
      try Bitmap(image, orientation, size, colorSpace, DecodeLimits(), isCancelled: isCancelled)
    }
  }

  /// Makes a bitmap on a background thread without blocking the caller's.
  ///
  /// See ``init(_:orientation:size:colorSpace:limits:)``. Cancelling the awaiting task stops the work.
  ///
  /// - Throws: ``ImageError`` of code `.overLimit`, `.invalidSize`, `.outOfTime` or `.cancelled`.
  public static func byPreparing(
    _ image: CGImage,
    orientation: Orientation = .up,
    size: TargetSize? = nil,
    colorSpace: ColorSpace = .sRGB,
  ) async throws(ImageError) -> Bitmap {
    try await BackgroundWork.run { completion in
      prepare(image, orientation: orientation, size: size, colorSpace: colorSpace, completion: completion)
    }
  }
}
