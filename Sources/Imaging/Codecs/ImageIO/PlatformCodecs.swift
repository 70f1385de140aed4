import ImageIO

/// What the registries hold besides the decoders and encoders of every platform.
enum PlatformCodecs {
  static let decoders: [any ImageDecoder] = [ImageIODecoder()]
  static let encoders: [any ImageEncoder] = ImageIOEncoder.others

  /// The bytes of a picture that the system's decoder holds besides the rows that it delivers.
  static func heldByteCount(width: Int, height: Int) -> Int {
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    // The decoded image, and a copy of its bytes.
    return overflow ? .max : pixels.multipliedSaturating(by: 8)
  }
}

extension ImageFormat {
  /// The uniform type identifier, by which ImageIO knows the format.
  var typeIdentifier: String? {
    switch self {
    case .jpeg: "public.jpeg"
    case .png, .apng: "public.png"
    case .gif: "com.compuserve.gif"
    case .webp: "org.webmproject.webp"
    case .heic: "public.heic"
    case .avif: "public.avif"
    case .tiff: "public.tiff"
    case .jxl: "public.jpeg-xl"
    case .jpeg2000: "public.jpeg-2000"
    default: nil
    }
  }
}
