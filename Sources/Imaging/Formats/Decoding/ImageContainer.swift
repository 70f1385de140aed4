public import VitrineRuntime

/// An image and its data: the value that travels from a decoder to a view.
///
/// A decoder fills it in, processors change it, caches keep it and views show its ``bitmap``:
/// ```swift
/// var image = try DecoderRegistry.standard.decode(data)
/// image.userInfo["album"] = "Holidays"
/// show(image.bitmap)
/// ```
/// It is the size of one reference. Copying costs one retain, and copies share their contents until one is changed.
public struct ImageContainer: Sendable {
  /// The pixels: upright, at the requested size, with straight alpha or opaque.
  ///
  /// Other pixels leave no ``gainMap``, no ``highRange``, no ``animation`` and no ``subjects``.
  public var bitmap: Bitmap {
    get { values.value.bitmap }
    set {
      values.value.bitmap = newValue
      (values.value.gainMap, values.value.highRange, values.value.animation) = (nil, nil, nil)
      values.value.subjects = []
    }
  }
  /// The parts of ``bitmap`` that show its subjects: the faces, animals or the focus that its file names.
  ///
  /// A smart crop prefers to keep them. Processors that resize, crop, flip and turn by quarters move them with the pixels,
  /// and processors that change colours keep them; others leave none. Set them to crop around the faces that a detector of
  /// your own has found:
  ///
  /// ```swift
  /// request.processors = [
  ///   .customContainer(id: "faces") { image in
  ///     var image = image
  ///     image.subjects = try detector.faces(in: image.bitmap).map { face in
  ///       SubjectRegion(.face, x: face.x, y: face.y, width: face.width, height: face.height)
  ///     }
  ///     return image
  ///   },
  ///   .smartCrop(aspectRatio: 1),
  /// ]
  /// ```
  public var subjects: [SubjectRegion] {
    get { values.value.subjects }
    set { values.value.subjects = newValue.compactMap(\.clamped) }
  }
  /// The animation that begins with ``bitmap``; `nil` for a still image, and unless requested by
  /// ``DecodeOptions/animates``.
  ///
  /// A processor changes its frames when they are shown.
  public var animation: AnimatedImage? {
    get { values.value.animation }
    set {
      values.value.animation = newValue
      values.value.animationChanges += 1
    }
  }
  /// The number of times that the animation was set, which tells a removed animation from an animation that other pixels
  /// ended.
  var animationChanges: Int { values.value.animationChanges }
  /// The pixels where they are brighter than white, at the size of ``bitmap``: as ImageIO decodes them if requested by
  /// ``DecodeOptions/dynamicRange``, or made by ``ImageProcessor/highRange(headroom:)``; otherwise `nil`.
  ///
  /// Later processors leave none.
  public var highRange: HighRangeBitmap? {
    get { values.value.highRange }
    set { values.value.highRange = newValue }
  }
  /// The map that makes ``bitmap`` brighter than white: the file's own, or made of a picture in PQ or HLG; `nil` unless
  /// requested by ``DecodeOptions/dynamicRange``, and of other files.
  ///
  /// Processors that resize, crop, trim, flip and turn by quarters keep it. Others change colours, or add some, and leave
  /// none.
  public var gainMap: GainMap? {
    get { values.value.gainMap }
    set { values.value.gainMap = newValue }
  }
  /// The facts of the source: format, size, orientation, frames.
  ///
  /// They describe the encoded image, even after processors have changed the pixels.
  public var info: ImageInfo {
    get { values.value.info }
    set { values.value.info = newValue }
  }
  /// The reason why a part of the image is missing, if ``DecodeOptions/acceptsPartial`` allowed that; `nil` for a
  /// whole image.
  public var damage: ImageError? {
    get { values.value.damage }
    set { values.value.damage = newValue }
  }
  /// A Boolean value that indicates whether only damage makes a part of the image transparent; JPEG shows that white.
  package var isOpaqueApartFromDamage: Bool { damage != nil && !info.hasAlpha }
  /// EXIF and similar data; `nil` unless requested.
  public var metadata: ImageMetadata? {
    get { values.value.metadata }
    set { values.value.metadata = newValue }
  }
  /// The encoded bytes; `nil` unless requested.
  public var encodedData: Data? {
    get { values.value.encodedData }
    set { values.value.encodedData = newValue }
  }
  /// A Boolean value that indicates whether this is a preview rather than the image.
  public var isPreview: Bool {
    get { values.value.isPreview }
    set { values.value.isPreview = newValue }
  }
  /// Values of your own, by keys of your own.
  public var userInfo: [String: any Sendable] {
    get { values.value.userInfo }
    set { values.value.userInfo = newValue }
  }

  private var values: Shared<Values>

  /// Makes a container of pixels.
  ///
  /// - Parameters:
  ///   - bitmap: The pixels.
  ///   - info: The facts of the source. Defaults to the facts of a bitmap without a file, ``ImageFormat/bitmap``.
  ///   - damage: The reason why a part is missing. Defaults to `nil`: the image is whole.
  ///   - metadata: EXIF and similar data. Defaults to `nil`.
  ///   - encodedData: The encoded bytes. Defaults to `nil`.
  ///   - isPreview: A Boolean value that indicates whether this is a preview rather than the image. Defaults to
  ///     `false`.
  ///   - userInfo: Values of your own. Defaults to none.
  public init(
    _ bitmap: Bitmap,
    info: ImageInfo? = nil,
    damage: ImageError? = nil,
    metadata: ImageMetadata? = nil,
    encodedData: Data? = nil,
    isPreview: Bool = false,
    userInfo: [String: any Sendable] = [:],
  ) {
    values = Shared(
      Values(
        bitmap: bitmap,
        info: info ?? ImageInfo(format: .bitmap, storedWidth: bitmap.width, storedHeight: bitmap.height),
        damage: damage,
        metadata: metadata,
        encodedData: encodedData,
        isPreview: isPreview,
        userInfo: userInfo,
      )
    )
  }

  /// Returns a copy with other pixels.
  package func replacing(_ bitmap: Bitmap) -> ImageContainer {
    var other = self
    other.bitmap = bitmap
    return other
  }

  private struct Values: Sendable {
    var bitmap: Bitmap
    var gainMap: GainMap?
    var highRange: HighRangeBitmap?
    var animation: AnimatedImage?
    var animationChanges = 0
    var info: ImageInfo
    var subjects: [SubjectRegion] = []
    var damage: ImageError?
    var metadata: ImageMetadata?
    var encodedData: Data?
    var isPreview: Bool
    var userInfo: [String: any Sendable]
  }
}
