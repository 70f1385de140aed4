package import VitrineRuntime

extension DecoderRegistry {
  /// Checks that bytes are a whole image, for a caller that only copies them.
  ///
  /// The header is read, and the end of the file is looked for. Where the format has none, or the file ends otherwise, the
  /// image is decoded instead. Blocks until done.
  ///
  /// - Throws: ``ImageError`` of any code but `.notEncodable`.
  package func verify(_ data: Data, _ options: DecodeOptions, _ job: DecodeJob) throws(ImageError) {
    let format = try info(of: data, limits: options.limits).format
    // The bytes are only read while the closure runs.
    let isWhole = unsafe data.withUnsafeBytes { bytes in unsafe format.row.hasEnd(ByteReader(bytes)) }
    if !isWhole { _ = try decode(data, options, job) }
  }
}
