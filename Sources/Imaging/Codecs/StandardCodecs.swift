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
  ]

  /// The follower of a file that arrives.
  var arrival: (any FileArrival)? { Self.builtIn.first { $0.decoder.formats.contains(self) }?.arrival }
}
