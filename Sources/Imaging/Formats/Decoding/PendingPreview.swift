package import VitrineRuntime

/// The beginning of a file, ready to be decoded.
package struct PendingPreview: Sendable {
  let purpose: PreviewPurpose
  package let data: Data
  package let options: DecodeOptions
  let showsRows: Bool
  let decoders: DecoderRegistry
  /// The animation that it begins or extends, and the number of frames that are whole; `nil` for a still preview.
  var animation: (arriving: ArrivingAnimation, frameCount: Int)?

  /// The animation that it begins or extends.
  package var arrivingAnimation: ArrivingAnimation? { animation?.arriving }

  /// True if it shows the final image, because the rest of the file is not needed.
  package var isImage: Bool { purpose != .preview }

  /// The number of bytes of the file that it uses.
  package var byteCount: Int { data.count }

  /// Decodes it; returns `nil` if it shows too little.
  ///
  /// - Parameters:
  ///   - job: The memory of the decode. Defaults to none of its own.
  ///   - isCancelled: Called in place of ``DecodeOptions/isCancelled``.
  /// - Returns: The preview.
  /// - Throws: ``ImageError``: `.cancelled`, `.outOfTime`, `.overLimit`.
  package func decode(
    _ job: DecodeJob = DecodeJob(),
    isCancelled: (@Sendable () -> Bool)? = nil,
  ) throws(ImageError) -> ImagePreview? {
    var (options, job) = (options, job)
    if let isCancelled { options.isCancelled = isCancelled }
    defer { job.memoryShare?.release() }
    try job.begin(options)
    do throws(ImageError) {
      if let animation {
        return try animation.arriving.take(self, frameCount: animation.frameCount, job, options)
      }
      return try decoders.find(data, options.limits) { [options, job] (image) throws(ImageError) -> ImagePreview?? in
        switch image {
        case .local(let image): return try decode(image, options, job)
        case .remote(let image):
          return try image.answer(DecodeQuestion(.preview(purpose, showsRows: showsRows), options, job)).preview
        }
      }
    } catch {
      switch error.code {
      case .cancelled, .outOfTime, .overLimit: throw error
      default: return nil
      }
    }
  }

  /// Decodes it in this process, step by step; returns `nil` if the decoder declines.
  private func decode(
    _ image: LocalImage,
    _ options: DecodeOptions,
    _ job: DecodeJob,
  ) throws(ImageError) -> ImagePreview?? {
    var (job, options) = (job, options)
    options.dynamicRange = .standard
    let info = image.header
    let plan = try options.plan(for: info)
    if purpose == .thumbnail {
      let thumbnail = try decoders.renderThumbnail(of: image, info, plan, options, job)
      return thumbnail.map { ImagePreview(bitmap: $0.bitmap, info: info, detail: .whole, byteCount: data.count) }
    }
    try job.admit(image, info, plan, options)
    guard let rows = try image.openPrefix(options.request(for: info, plan, job)) else { return nil }
    let result = try options.renderer(for: info, plan, job).render(rows, acceptsPartial: true)
    let (bitmap, shown) = (result.bitmap, result.shown)
    guard shown == 1 || (showsRows && shown > 0) else { return .some(nil) }
    let detail = shown == 1 ? ImagePreview.Detail.whole : .rows(share: shown)
    return ImagePreview(bitmap: bitmap, info: info, detail: detail, byteCount: data.count)
  }
}
