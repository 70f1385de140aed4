import VitrineImaging
import VitrineRuntime

/// The encoded image of a source, about which the decoders of the tool are asked.
struct SourceContent {
  let bytes: ImageBytes

  init(_ bytes: ImageBytes) { self.bytes = bytes }

  /// Reads the facts in the header.
  ///
  /// Blocks.
  func info(_ limits: DecodeLimits) throws(Failure) -> ImageInfo {
    try asked { () throws(ImageError) in try DecoderRegistry.ofTool.info(of: bytes, limits: limits) }
  }

  /// Reads the metadata.
  ///
  /// Blocks.
  func metadata() throws(Failure) -> ImageMetadata {
    try asked { () throws(ImageError) in try DecoderRegistry.ofTool.metadata(of: bytes, limits: DecodeLimits()) }
  }

  /// Returns how much brighter than white an image of a header is with its gain map; `nil` without one.
  func gainMapHeadroom(_ info: ImageInfo) -> Double? {
    guard case .data(let data) = bytes else { return nil }
    return info.gainMapHeadroom(in: data)
  }

  /// Decodes the image.
  ///
  /// Blocks.
  func image(_ options: DecodeOptions, _ job: DecodeJob = DecodeJob()) throws(Failure) -> ImageContainer {
    try asked { () throws(ImageError) in try DecoderRegistry.ofTool.decode(bytes, options, job) }
  }

  private func asked<Value>(_ body: () throws(ImageError) -> Value) throws(Failure) -> Value {
    do throws(ImageError) {
      return try body()
    } catch {
      throw Failure(error)
    }
  }
}
