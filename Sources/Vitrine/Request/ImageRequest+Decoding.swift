public import VitrineImaging

// The decoding of the image.
extension ImageRequest {
  /// The quality of the pixels when an image is shrunk.
  ///
  /// With `.fast`, a download stops once its beginning suffices: a large enough thumbnail in the file, or the first
  /// scans of a progressive JPEG, if at most an eighth of its size is wanted (a tenth to a third of its bytes). It
  /// stops only if the rest, 128 KB or more, can be fetched later (a strong `ETag`, a known length). It does not stop
  /// if the originals are stored (``StoragePolicy/original``, ``StoragePolicy/both``), or with ``continuesDownload``.
  /// The beginning is kept on disk, and a request that needs all of it fetches the rest. Defaults to `.balanced`.
  public var quality: DecodeQuality {
    get { fields.decoding.quality }
    set { change { $0.decoding.quality = newValue } }
  }

  /// The index of the frame of an animation; defaults to 0.
  public var frame: Int {
    get { fields.decoding.frame }
    set { change { $0.decoding.frame = newValue } }
  }

  /// The filter that resamples the decoder's pixels to the requested size; defaults to `.lanczos3`.
  public var filter: ResamplingFilter {
    get { fields.decoding.filter }
    set { change { $0.decoding.filter = newValue } }
  }

  /// A Boolean value that indicates whether pixels are resampled in linear light.
  ///
  /// Defaults to `false`. `DecodeOptions.usesLinearLight` in `VitrineImaging` has its cost.
  public var usesLinearLight: Bool {
    get { fields.decoding.usesLinearLight }
    set { change { $0.decoding.usesLinearLight = newValue } }
  }

  /// The colour space of the image; Display P3 keeps the colours that sRGB lacks.
  ///
  /// Images of different colour spaces are never made from one another. Defaults to sRGB.
  public var colorSpace: ColorSpace {
    get { fields.decoding.colorSpace }
    set { change { $0.decoding.colorSpace = newValue } }
  }

  /// The dynamic range of the image.
  ///
  /// Defaults to `.standard`. With `.high`, the image also has `ImageContainer.gainMap`, if the file has one, and
  /// `ImageContainer.highRange`, if it is brighter than white and the system can decode that. Such an image is kept in memory, and made anew from the file after a
  /// restart.
  public var dynamicRange: DynamicRange {
    get { fields.decoding.dynamicRange }
    set { change { $0.decoding.dynamicRange = newValue } }
  }

  /// A Boolean value that indicates whether the decoded part of a damaged image is a result rather than an error.
  ///
  /// Defaults to `false`: ``LoadError/Code/undecodable``. If it is `true`, `ImageContainer.damage` says why a part is
  /// missing, and the missing part is transparent. Such an image is kept in memory for as long as its response is fresh,
  /// and served only to requests that accept it. Neither the image nor its bytes are stored on disk, so that a file that is
  /// mended replaces it after a restart at the latest. A download that ends early is an error in any case.
  public var acceptsPartial: Bool {
    get { fields.decoding.acceptsPartial }
    set { change { $0.decoding.acceptsPartial = newValue } }
  }

  /// A Boolean value that indicates whether an animation comes with its frames, as `ImageResponse.animation`.
  ///
  /// Defaults to `false`: one frame. Such an image is kept in memory, and made anew from the file after a restart.
  public var animates: Bool {
    get { fields.decoding.animates }
    set { change { $0.decoding.animates = newValue } }
  }
}
