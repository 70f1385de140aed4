import VitrineRuntime

/// Decodes the preview that cameras embed in raw files: DNG, CR2, CR3, NEF, ARW, ORF, PEF, RW2 and RAF.
///
/// The largest JPEG in the file is the image, with the colours of the camera. The samples of the sensor are not decoded. A file
/// without a preview of at least 320 pixels is refused.
public struct RawDecoder: ImageDecoder, VitrineDecoder {
  /// Makes the decoder.
  public init() {}

  /// Raw files.
  public let formats: [ImageFormat] = [.raw]

  /// Finds the preview, and reads its header.
  public func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    let file = try unsafe RawFile(ByteReader(bytes))
    guard let picture = try Self.picture(file, limits) else { return nil }
    var info = ImageInfo(
      format: .raw,
      storedWidth: picture.storedWidth,
      storedHeight: picture.storedHeight,
      orientation: file.orientation ?? picture.orientation,
    )
    (info.bitsPerComponent, info.colorModel) = (picture.bitsPerComponent, picture.colorModel)
    (info.colorProfile, info.streamsRows) = (picture.colorProfile, picture.streamsRows)
    info.workingByteCount = picture.workingByteCount
    return info
  }

  private static func picture(_ file: RawFile, _ limits: DecodeLimits) throws(ImageError) -> ImageInfo? {
    try unsafe file.preview.withUnsafeBytes { (bytes) throws(ImageError) in
      try unsafe JPEGDecoder().info(of: bytes, format: .jpeg, limits: limits)
    }
  }

  package func memory(for bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> DecodeMemory {
    let file = try unsafe RawFile(ByteReader(bytes))
    guard let picture = try Self.picture(file, request.limits) else { return DecodeMemory(request.info) }
    return try unsafe file.preview.withUnsafeBytes { (bytes) throws(ImageError) in
      try unsafe JPEGDecoder().memory(for: bytes, request.of(picture))
    }
  }

  /// Opens the preview.
  public func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    let file = try unsafe RawFile(ByteReader(bytes))
    guard let picture = try Self.picture(file, request.limits) else { return nil }
    // The preview is a part of `bytes`, which outlive the rows.
    return try unsafe file.preview.withUnsafeBytes { (bytes) throws(ImageError) in
      try unsafe JPEGDecoder().open(bytes, request.of(picture))
    }
  }

  /// Reads the raw file's EXIF without the notes of its maker, and its XMP; the preview's if the raw file has none.
  public func metadata(
    of bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageMetadata {
    let file = try unsafe RawFile(ByteReader(bytes))
    guard let exif = file.exif else {
      return try unsafe file.preview.withUnsafeBytes { (bytes) throws(ImageError) in
        try unsafe JPEGDecoder().metadata(of: bytes, info, limits: limits)
      }
    }
    var metadata = ImageMetadata()
    metadata.exif = exif.block(limit: limits.metadataByteCount)
    metadata.xmp = file.xmp.flatMap { $0.count <= limits.metadataByteCount ? $0 : nil }
    metadata.colorProfile = info.colorProfile
    return metadata
  }
}

extension RowRequest {
  /// The request for a picture that stands for the image.
  fileprivate func of(_ picture: ImageInfo) -> RowRequest {
    RowRequest(
      info: picture,
      frame: frame,
      minimumScale: minimumScale,
      lightScale: lightScale,
      scales: scales,
      region: region,
      colorSpace: colorSpace,
      limits: limits,
      threadCount: threadCount,
      control: control,
    )
  }
}
