package import VitrineRuntime

/// The beginning of a file, ready to be decoded.
package struct PendingPreview: Sendable {
  package enum Purpose: String, Hashable, Sendable { case preview, thumbnail, scans }

  let purpose: Purpose
  package let data: Data
  let options: DecodeOptions
  let showsRows: Bool
  let decoders: DecoderRegistry

  /// True if it shows the final image, because the rest of the file is not needed.
  package var isImage: Bool { purpose != .preview }

  /// The number of bytes of the file that it uses.
  package var byteCount: Int { data.count }

  /// Decodes it; returns `nil` if it shows too little.
  ///
  /// - Parameters:
  ///   - share: The share of a budget that several decodes have in common.
  ///   - isCancelled: Called in place of that of the options.
  /// - Returns: The preview.
  /// - Throws: ``ImageError``: `.cancelled`, `.outOfTime`, `.overLimit`.
  package func decode(
    _ share: MemoryShare? = nil,
    isCancelled: (@Sendable () -> Bool)? = nil,
  ) throws(ImageError) -> ImagePreview? {
    var options = options
    options.memoryShare = share
    if let isCancelled { options.isCancelled = isCancelled }
    defer { share?.release() }
    let control = DecodeControl(isCancelled: options.isCancelled, timeLimit: options.limits.timeLimit)
    try control.check()
    do throws(ImageError) {
      // The bytes are only read while the closure runs: row sources do not outlive it.
      return try unsafe data.withImageBytes { (bytes) throws(ImageError) in
        let question = DecodeQuestion(.preview(purpose, showsRows: showsRows), options)
        return try unsafe decoders.find(
          bytes,
          options.limits,
          remote: { (decoder, format) throws(ImageError) in
            try unsafe decoder.answer(question, about: .bytes(bytes), of: format).preview
          },
        ) { (decoder, info) throws(ImageError) -> ImagePreview?? in
          let plan = try options.plan(for: info)
          if purpose == .thumbnail {
            let image = try unsafe decoders.renderThumbnail(of: bytes, decoder, info, plan, options, control)
            return image.map {
              ImagePreview(bitmap: $0.bitmap, info: info, detail: .whole, byteCount: data.count)
            }
          }
          let control = try unsafe options.admit(decoder, bytes, plan, info, control)
          let request = options.request(for: info, plan, control)
          guard let source = try unsafe open(bytes, request, decoder) else { return nil }
          let (bitmap, _, shown) = try options.renderer(for: info, plan, control)
            .render(source, acceptsPartial: true)
          guard shown == 1 || (showsRows && shown > 0) else { return .some(nil) }
          let detail = shown == 1 ? ImagePreview.Detail.whole : .rows(share: shown)
          return ImagePreview(bitmap: bitmap, info: info, detail: detail, byteCount: data.count)
        }
      }
    } catch {
      switch error.code {
      case .cancelled, .outOfTime, .overLimit: throw error
      default: return nil
      }
    }
  }

  private func open(
    _ bytes: UnsafeRawBufferPointer,
    _ request: RowRequest,
    _ decoder: any ImageDecoder,
  ) throws(ImageError) -> (any RowSource)? {
    guard let decoder = decoder as? any PrefixDecoding else { return try unsafe decoder.open(bytes, request) }
    return try unsafe decoder.openPrefix(bytes, request)
  }
}
