public import VitrineRuntime

/// A decoder of one format, made of one function that decodes a whole file.
///
/// ```swift
/// let strip = ImageFormat(name: "strip", mediaType: "image/x-strip", fileExtension: "strip")
/// let pipeline = ImagePipeline {
///   $0.decoders.add(WholeImageDecoder(strip, signature: "STRIP".utf8) { file, control in try readStrip(file, control) })
/// }
/// ```
/// The size of an image must be known before its pixels take memory. So the function calls ``Control/begin(width:height:hasAlpha:)``
/// once it has read the header. Where only the header is wanted, that call throws, and the function ends there. A function
/// that never calls it decodes each file twice, and its size is checked too late.
///
/// The image must have the size that was announced, within the `DecodeLimits`. It is resized, converted and turned into
/// a bitmap of the request's size afterwards. The file is copied for each call; the copy counts towards
/// `DecodeLimits.memoryByteCount`. A decoder that can downsample, stream rows, or read several frames implements
/// ``ImageDecoder``.
public struct WholeImageDecoder: ImageDecoder {
  /// A function that decodes a file.
  ///
  /// It is called on a thread for decoding, which it may block, and by several threads at once. The file may be
  /// incomplete, or anything else that begins with the signature.
  ///
  /// An `ImageError` that it throws is passed on. Any other error becomes one of code `.corrupt`, with that error as the
  /// cause.
  public typealias Decode = @Sendable (_ file: Data, _ control: Control) throws -> Bitmap

  /// The checks that a function makes while it decodes a file.
  public struct Control: Sendable {
    /// The limits; the adapter checks pixels, memory and time.
    public let limits: DecodeLimits
    /// The header that the file has already; `nil` to end after the header.
    fileprivate let info: ImageInfo?
    fileprivate let format: ImageFormat
    fileprivate let control: DecodeControl
    fileprivate let announced = Lock(ImageInfo?.none)

    /// Announces the size, in pixels, as soon as the header is read.
    ///
    /// - Parameters:
    ///   - width: The width.
    ///   - height: The height.
    ///   - hasAlpha: A Boolean value that indicates whether pixels can be transparent. Defaults to `true`.
    /// - Throws: `ImageError` if decoding must not go on: only the header is wanted, the load is cancelled, the time is
    ///   over, or the size is another one than before. The function passes it on.
    public func begin(width: Int, height: Int, hasAlpha: Bool = true) throws(ImageError) {
      var header = ImageInfo(format: format, storedWidth: width, storedHeight: height)
      header.hasAlpha = hasAlpha
      announced.withLock { $0 = header }
      guard let info else { throw ImageError(.cancelled, format: format, "only the header is wanted") }
      guard (width, height) == (info.storedWidth, info.storedHeight) else {
        throw .impossible(format, "\(width)x\(height) pixels after \(info.storedWidth)x\(info.storedHeight)")
      }
      try check()
    }

    /// Returns if decoding may go on, and is cheap enough for every few rows.
    ///
    /// - Throws: `ImageError`: `.cancelled`, `.outOfTime`. The function passes it on.
    public func check() throws(ImageError) { try control.check() }
  }

  /// The one format.
  public var formats: [ImageFormat] { [format] }

  private let format: ImageFormat
  private let signature: [UInt8]
  private let decode: Decode

  /// Makes a decoder.
  ///
  /// - Parameters:
  ///   - format: The format: one of Vitrine's, for which this decoder is asked first, or one of your own.
  ///   - signature: The bytes with which every file of a format of your own begins. Defaults to none, for a format that
  ///     Vitrine recognises.
  ///   - decode: The function.
  public init(
    _ format: ImageFormat,
    signature: some Sequence<UInt8> = EmptyCollection<UInt8>(),
    decode: @escaping Decode,
  ) {
    (self.format, self.signature, self.decode) = (format, Array(signature), decode)
  }

  /// Returns the format if the bytes begin with the signature.
  public func recognizes(_ bytes: UnsafeRawBufferPointer) -> ImageFormat? {
    // The bytes are only read within the call.
    unsafe !signature.isEmpty && bytes.starts(with: signature) ? format : nil
  }

  /// Calls the function until it announces the size, or to its end if it does not.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let control = DecodeControl(isCancelled: nil, timeLimit: limits.timeLimit)
    let header = Control(limits: limits, info: nil, format: format, control: control)
    // Copied within the call.
    let result = unsafe call(Data(bytes), header)
    var info: ImageInfo
    if let announced = header.announced.withLock({ $0 }) {
      info = announced
    } else {
      let bitmap = try result.get()
      info = ImageInfo(format: format, storedWidth: bitmap.width, storedHeight: bitmap.height)
      info.hasAlpha = bitmap.alpha != .opaque
    }
    let pixels = info.storedWidth.multipliedSaturating(by: info.storedHeight).multipliedSaturating(by: 4)
    info.workingByteCount = pixels.addingSaturating(bytes.count)
    return info
  }

  /// Calls the function, and opens the bitmap that it returns.
  ///
  /// - Throws: `ImageError`: its own; `.outOfTime` if it took too long; `.decoderFailed` if the bitmap has another size
  ///   than the header.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let info = request.info
    guard request.frame == 0 else { throw .noSuchFrame(request.frame, of: info) }
    let control = Control(limits: request.limits, info: info, format: info.format, control: request.control)
    // Copied within the call.
    let bitmap = try unsafe call(Data(bytes), control).get()
    try request.control.check()
    guard (bitmap.width, bitmap.height) == (info.storedWidth, info.storedHeight) else {
      throw .impossible(format, "\(bitmap.width)x\(bitmap.height) pixels of \(info.storedWidth)x\(info.storedHeight)")
    }
    return BitmapRows(bitmap.straightened())
  }

  private func call(_ file: Data, _ control: Control) -> Result<Bitmap, ImageError> {
    do {
      return .success(try decode(file, control))
    } catch let error as ImageError {
      return .failure(error)
    } catch {
      return .failure(ImageError(.corrupt, format: format, cause: error, "\(format) cannot be decoded: \(error)"))
    }
  }
}
