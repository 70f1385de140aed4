package import VitrineImaging
import VitrineRuntime

/// An encoder that a worker has, and how its own options are made.
package struct SandboxedEncoder: Sendable {
  let format: ImageFormat
  private let call: @Sendable (EncoderInput, SandboxEncodingOptions) -> Result<Data, ImageError>

  package init<Encoder: ImageEncoder>(
    _ encoder: Encoder,
    _ options: @escaping @Sendable (SandboxEncodingOptions) -> Encoder.Options,
  ) {
    format = encoder.format
    call = { input, common in
      do throws(ImageError) {
        return .success(try encoder.encode(input, options(common)))
      } catch {
        return .failure(error)
      }
    }
  }

  func encode(_ input: EncoderInput, _ options: SandboxEncodingOptions) throws(ImageError) -> Data {
    try call(input, options).get()
  }
}

extension SandboxWorker {
  /// Encodes a picture, and sends the file.
  func encode(_ message: inout Message) throws {
    var fields = EncodeQuestion()
    try message.code(&fields)
    try message.end()
    let question = fields
    clearOutput()
    guard let input, question.pixelByteCount <= input.byteCount,
      let encoder = encoders.first(where: { $0.format == question.format })
    else { throw End.ended }
    let bytes = input.elements.elements
    let metadata = WrittenMetadata(
      exif: try question.exif?.copy(from: bytes, "EXIF", limit: bytes.count),
      xmp: try question.xmp?.copy(from: bytes, "XMP", limit: bytes.count),
    )
    // A still picture stays in the input. The frames of an animation replace one another there.
    let bitmap = self.bitmap(in: input, question, isOpaque: question.isOpaque, copies: question.animation != nil)
    var animation: AnimatedImage?
    if let facts = question.animation {
      var info = ImageInfo(format: .bitmap, storedWidth: question.width, storedHeight: question.height)
      (info.frameCount, info.loopCount, info.hasAlpha) = (facts.frameCount, facts.loopCount, facts.hasAlpha)
      let next = Lock(0)
      animation = AnimatedImage(poster: bitmap, info: info) { [self] () throws(ImageError) in
        let index = next.withLock { index in
          defer { index += 1 }
          return index
        }
        return try frame(index, question)
      }
    }
    let result: Result<Data, ImageError>
    do throws(ImageError) {
      let input = EncoderInput(bitmap, animation: animation, metadata: metadata)
      result = .success(try encoder.encode(input, question.options))
    } catch {
      result = .failure(error)
    }
    guard !hasEnded else { throw End.ended }
    switch result {
    case .success(let data): try finish(data)
    case .failure(var error):
      try send(.failed) { (message) throws(Malformed) in try message.code(&error) }
    }
  }

  /// Asks for the next frame.
  private func frame(_ index: Int, _ question: EncodeQuestion) throws(ImageError) -> AnimationFrame? {
    do {
      try send(.frame)
      var (message, command) = try receive()
      guard command == .frame, let input, question.pixelByteCount <= input.byteCount else { throw End.ended }
      var frame: EncodeFrame?
      try message.code(&frame)
      try message.end()
      guard let frame else { return nil }
      let bitmap = self.bitmap(in: input, question, isOpaque: frame.isOpaque, copies: true)
      return AnimationFrame(bitmap: bitmap, index: index, delay: frame.delay)
    } catch {
      hasEnded = true
    }
    throw ImageError(.cancelled, "cancelled")
  }

  /// Returns the pixels at the beginning of the input, which has room for them.
  private func bitmap(
    in input: SharedMapping,
    _ question: EncodeQuestion,
    isOpaque: Bool,
    copies: Bool,
  ) -> Bitmap {
    let pixels = input.elements.extracting(0..<question.pixelByteCount)
    let alpha: Bitmap.Alpha = isOpaque ? .opaque : .straight
    guard copies else {
      // The program does not change the input before it has the answer, and nobody writes into a bitmap.
      return unsafe pixels.withUnsafeBytes { pixels in
        unsafe Bitmap(
          borrowing: pixels,
          width: question.width,
          height: question.height,
          alpha: alpha,
          colorSpace: question.colorSpace,
        )
      }
    }
    return Bitmap.writing(
      width: question.width,
      height: question.height,
      alpha: alpha,
      colorSpace: question.colorSpace,
    ) { $0.update(from: pixels.elements) }
  }

  /// Puts the file into the output, and says how long it is.
  private func finish(_ data: Data) throws {
    var count = data.count
    if count > output?.byteCount ?? 0 {
      try send(.space) { (message) throws(Malformed) in try message.code(&count, "length") }
      guard try waitForPermission().isGiven else { throw End.ended }
    }
    guard let output, count <= output.byteCount else { throw End.ended }
    writes(count)
    // Only read.
    unsafe data.withUnsafeBytes { unsafe output.elements.update(from: Elements($0)) }
    try send(.done) { (message) throws(Malformed) in try message.code(&count, "length") }
  }
}
