import VitrineRuntime

/// An estimate of the bytes that decoding one image holds, made from its header.
package struct DecodeMemory: Hashable, Sendable {
  /// The bytes that the codec holds: coefficients, planes, canvases.
  package var codec: Int
  /// The bytes of a picture that is held before its first row is read.
  ///
  /// If the rows are the bitmap's own, they are decoded into it instead.
  package var rows: Int
  /// The bytes that the codec frees before the first row is read.
  package var transient = 0

  package init(codec: Int = 0, rows: Int = 0, transient: Int = 0) {
    (self.codec, self.rows, self.transient) = (codec, rows, transient)
  }

  /// The estimate of a decoder that makes none of its own.
  package init(_ info: ImageInfo) {
    let pixels = info.storedWidth.multipliedReportingOverflow(by: info.storedHeight)
    self.init(codec: info.workingByteCount ?? (info.streamsRows || pixels.overflow ? 0 : 4 * pixels.partialValue))
  }

  /// Returns the peak of a decode with its result of `output` bytes.
  func total(output: Int, decodesInPlace: Bool) -> Int {
    let held = codec.addingSaturating(decodesInPlace ? 0 : rows)
    // A result takes no memory before its first row is written.
    return max(held.addingSaturating(transient), held.addingSaturating(output))
  }
}
