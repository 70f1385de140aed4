// The table of formats, which Scripts/lib/formats.sh reads, too. To add a format, add its row here, and its codec in a folder
// of its own, which `builtIn` names. README.md lists the titles; `make lint` compares.

extension ImageFormat {
  /// The formats that Vitrine knows, in the order in which their signatures are compared.
  public static let all: [ImageFormat] = [
    .jpeg, .png, .apng, .webp, .gif, .bmp, .ico, .qoi, .raw, .avif, .heic, .jxl, .tiff, .jpeg2000, .svg,
  ]

  /// JPEG (ITU-T T.81).
  public static let jpeg = Self(
    Row(
      name: "jpeg",
      title: "JPEG",
      extensions: ["jpg", "jpeg", "jpe", "jfif"],
      types: ["image/jpeg", "image/pjpeg"],
      uniformType: "public.jpeg",
      signature: JPEGHeader.isSignature,
      hasAlpha: false,
      hasEnd: { $0.ends(with: [0xFF, 0xD9]) },
      loss: .always,
      reader: .builtIn,
      writer: .builtIn,
      web: .all,
    )
  )

  /// PNG with a single picture.
  public static let png = Self(
    Row(
      name: "png",
      title: "PNG",
      extensions: ["png"],
      types: ["image/png", "image/x-png"],
      uniformType: "public.png",
      signature: { $0.starts(with: PNGHeader.signature) && !PNGHeader.isAnimated($0) },
      // What would make it move precedes the first `IDAT`.
      isStill: { file in PNGHeader.chunks(file).contains { $0.type == PNGHeader.Chunk.IDAT } },
      hasEnd: { $0.ends(with: PNGHeader.end) },
      reader: .builtIn,
      writer: .builtIn,
      web: .all,
    )
  )

  /// PNG with an animation.
  public static let apng = Self(
    Row(
      name: "apng",
      title: "APNG",
      extensions: ["png", "apng"],
      types: ["image/apng", "image/vnd.mozilla.apng"],
      uniformType: "public.png",
      signature: { $0.starts(with: PNGHeader.signature) },
      motion: .mostly,
      hasEnd: { $0.ends(with: PNGHeader.end) },
      reader: .builtIn,
    )
  )

  /// WebP (RFC 9649).
  public static let webp = Self(
    Row(
      name: "webp",
      title: "WebP",
      extensions: ["webp"],
      types: ["image/webp"],
      uniformType: "org.webmproject.webp",
      signature: { $0.starts(with: "RIFF") && $0.matches("WEBP", at: 8) },
      motion: .sometimes,
      isStill: WebPHeader.isStill,
      hasEnd: { file in file.littleEndian32(at: 4).map { Int($0) + 8 <= file.count } ?? false },
      loss: .either,
      reader: .builtIn,
      writer: .ofWebP,
      web: .negotiated(milliseconds: 110, relativeSize: 0.77),
      // One thread decodes, the other one filters.
      threads: 2,
    )
  )

  /// GIF, 87a and 89a.
  public static let gif = Self(
    Row(
      name: "gif",
      title: "GIF",
      extensions: ["gif"],
      types: ["image/gif"],
      uniformType: "com.compuserve.gif",
      signature: { $0.starts(with: "GIF87a") || $0.starts(with: "GIF89a") },
      motion: .mostly,
      hasEnd: { $0.ends(with: [0x3B]) },
      loss: .palette,
      reader: .builtIn,
      writer: .builtIn,
      web: .all,
    )
  )

  /// Windows bitmap.
  public static let bmp = Self(
    Row(
      name: "bmp",
      title: "BMP",
      extensions: ["bmp"],
      types: ["image/bmp", "image/x-bmp", "image/x-ms-bmp"],
      signature: BMPHeader.isSignature,
      reader: .builtIn,
    )
  )

  /// Windows icon or cursor.
  public static let ico = Self(
    Row(
      name: "ico",
      title: "ICO",
      extensions: ["ico", "cur"],
      types: ["image/vnd.microsoft.icon", "image/x-icon", "image/x-win-bitmap"],
      // The reserved byte of the first picture is 0, or 255 by some writers.
      signature: { file in
        (file.starts(with: [0, 0, 1, 0]) || file.starts(with: [0, 0, 2, 0])) && file.littleEndian16(at: 4) != 0
          && [0, 255].contains(file.byte(at: 9))
      },
      motion: .pages,
      reader: .builtIn,
    )
  )

  /// The Quite OK Image format.
  public static let qoi = Self(
    Row(
      name: "qoi",
      title: "QOI",
      extensions: ["qoi"],
      types: ["image/qoi", "image/x-qoi"],
      signature: { $0.starts(with: "qoif") },
      reader: .builtIn,
      writer: .builtIn,
    )
  )

  /// The raw files of cameras: DNG, CR2, CR3, NEF, ARW, ORF, PEF, RW2 and RAF, shown by their JPEG previews.
  public static let raw = Self(
    Row(
      name: "raw",
      title: "RAW",
      extensions: ["dng", "cr2", "cr3", "nef", "arw", "orf", "pef", "rw2", "raf"],
      types: [
        "image/x-dcraw", "image/x-adobe-dng", "image/x-canon-cr2", "image/x-canon-cr3", "image/x-nikon-nef",
        "image/x-sony-arw", "image/x-olympus-orf", "image/x-pentax-pef", "image/x-panasonic-rw2", "image/x-fuji-raf",
      ],
      uniformType: "public.camera-raw-image",
      signature: RawFile.isSignature,
      hasAlpha: false,
      reader: .builtIn,
    )
  )

  /// AVIF: AV1 in HEIF.
  public static let avif = Self(
    Row(
      name: "avif",
      title: "AVIF",
      extensions: ["avif", "avifs"],
      types: ["image/avif", "image/avif-sequence"],
      uniformType: "public.avif",
      signature: { ISOMediaFile.picture($0) == .av1 },
      motion: .sometimes,
      hasEnd: { !ISOMediaFile.isTruncated($0) },
      loss: .either,
      reader: .external(codec: "AVIF"),
      // 48 megapixels take 0.9 GB.
      writer: .external(byteCountPerPixel: 20),
      web: .negotiated(milliseconds: 280, relativeSize: 0.65),
      threads: DecodeThreads.limit,
    )
  )

  /// HEIC and other HEIF: HEVC in HEIF.
  public static let heic = Self(
    Row(
      name: "heic",
      title: "HEIC",
      extensions: ["heic", "heif", "hif", "heics", "heifs"],
      types: ["image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence"],
      uniformType: "public.heic",
      signature: { ISOMediaFile.picture($0) == .other },
      hasEnd: { !ISOMediaFile.isTruncated($0) },
      loss: .either,
      reader: .external(codec: "HEIF"),
      threads: DecodeThreads.limit,
    )
  )

  /// JPEG XL.
  public static let jxl = Self(
    Row(
      name: "jxl",
      title: "JPEG XL",
      extensions: ["jxl"],
      types: ["image/jxl"],
      uniformType: "public.jpeg-xl",
      signature: { $0.starts(with: [0xFF, 0x0A]) || ISOMediaFile.hasSignature("JXL ", $0) },
      motion: .sometimes,
      loss: .either,
      reader: .external(codec: "JXL"),
      // Planes of floating-point numbers: 48 megapixels take 2 GB.
      writer: .external(byteCountPerPixel: 40),
      web: .negotiated(milliseconds: 190, relativeSize: 0.75),
      threads: DecodeThreads.limit,
    )
  )

  /// TIFF, classic and BigTIFF, either byte order.
  public static let tiff = Self(
    Row(
      name: "tiff",
      title: "TIFF",
      extensions: ["tiff", "tif"],
      types: ["image/tiff"],
      uniformType: "public.tiff",
      signature: {
        $0.starts(with: [0x49, 0x49, 42, 0]) || $0.starts(with: [0x4D, 0x4D, 0, 42])
          || $0.starts(with: [0x49, 0x49, 43, 0]) || $0.starts(with: [0x4D, 0x4D, 0, 43])
      },
      motion: .pages,
      reader: .external(codec: "TIFF"),
    )
  )

  /// JPEG 2000, recognised so that a message can name it.
  public static let jpeg2000 = Self(
    Row(
      name: "jp2",
      title: "JPEG 2000",
      extensions: ["jp2"],
      types: ["image/jp2"],
      uniformType: "public.jpeg-2000",
      signature: { $0.starts(with: [0xFF, 0x4F, 0xFF, 0x51]) || ISOMediaFile.hasSignature("jP  ", $0) },
      loss: .either,
    )
  )

  /// SVG, recognised by its root element; also compressed with gzip.
  public static let svg = Self(
    Row(
      name: "svg",
      title: "SVG",
      extensions: ["svg", "svgz"],
      types: ["image/svg+xml", "image/svg+xml-compressed"],
      // The text before the root may be long, so this is compared last.
      signature: { XMLRoot($0)?.name == "svg" },
      isDrawing: true,
      reader: .external(codec: "SVG"),
    )
  )

  /// No file: pixels made by a program.
  public static let bitmap = Self(Row(name: "bitmap", title: "bitmap", extensions: [], types: []))
}

extension ImageFormat.Writer {
  #if VITRINE_APPLE
  /// ImageIO reads WebP, but does not write it.
  fileprivate static let ofWebP = none
  #else
  fileprivate static let ofWebP = builtIn
  #endif
}

extension DecoderRegistry {
  /// The decoders of this module; on Apple's platforms also for what ImageIO reads, such as HEIC.
  public static let standard = DecoderRegistry(own: ImageFormat.builtIn.map(\.decoder) + PlatformCodecs.decoders)
}

extension EncoderRegistry {
  /// The encoders of this module; on Apple's platforms also what ImageIO writes, such as HEIC, but not WebP.
  public static let standard = EncoderRegistry(ImageFormat.builtIn.compactMap(\.encoder) + PlatformCodecs.encoders)
}

extension ImageFormat {
  /// The codecs of the rows that have built-in ones, with the followers of files that arrive; `nil` without previews.
  static let builtIn: [(decoder: any VitrineDecoder, encoder: (any ImageEncoder)?, arrival: (any FileArrival)?)] = [
    (JPEGDecoder(), JPEGEncoder(), JPEGArrival()), (PNGDecoder(), PNGEncoder(), PNGArrival()),
    (WebPDecoder(), PlatformCodecs.webPEncoder, WebPArrival()), (GIFDecoder(), GIFEncoder(), GIFArrival()),
    (BMPDecoder(), nil, nil), (ICODecoder(), nil, nil), (QOIDecoder(), QOIEncoder(), nil),
    (RawDecoder(), nil, nil),
  ]

  /// The follower of a file that arrives.
  var arrival: (any FileArrival)? { Self.builtIn.first { $0.decoder.formats.contains(self) }?.arrival }
}
