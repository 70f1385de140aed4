import CoreGraphics
import ImageIO
import VitrineRuntime

/// The codecs of the stubs of ImageIO and CoreGraphics: Linux's, which are compiled into this module.
///
/// What the module under test has for every platform, such as headers and resampling, is its own. So nothing here may ask
/// it for what it asks ImageIO for: profiles of PNG, and pixels.
struct StubCodecs: _ImageCodecs, _ColorConverting {
  let readable = ["public.jpeg", "public.png", "com.compuserve.gif", "org.webmproject.webp"] + StubFile.types
  let writable = ["public.jpeg", "public.png"] + StubFile.types

  func describe(_ data: Data, isFinal: Bool) -> _ImageDescription? {
    if let file = StubFile(data) { return describe(file) }
    guard let info = try? SystemPicture.info(of: data), let type = Self.types[info.format] else { return nil }
    let properties = [[String: Any]](repeating: Self.properties(info), count: info.frameCount)
    var description = _ImageDescription(type: type, properties: properties)
    description.xmp = SystemPicture.text(of: data, info)
    return description
  }

  private func describe(_ file: StubFile) -> _ImageDescription? {
    var properties: [[String: Any]] = []
    for (index, picture) in file.pictures.enumerated() {
      guard let info = try? SystemPicture.info(of: picture) else { return nil }
      properties.append(Self.properties(info).merging(Self.fields(of: picture)) { $1 })
      if file.delays.indices.contains(index) {
        properties[index][kCGImagePropertyHEICSDictionary as String] = [
          kCGImagePropertyHEICSUnclampedDelayTime as String: file.delays[index]
        ]
      }
    }
    var description = _ImageDescription(type: file.type, properties: properties)
    description.primary = file.primary
    if !file.delays.isEmpty {
      description.container = [kCGImagePropertyHEICSDictionary as String: [kCGImagePropertyHEICSLoopCount as String: 3]]
    }
    description.xmp = file.pictures.first.flatMap { (try? DecoderRegistry.standard.metadata(of: $0))?.xmp }
    return description
  }

  private static func properties(_ info: ImageInfo) -> [String: Any] {
    [
      kCGImagePropertyPixelWidth as String: info.storedWidth,
      kCGImagePropertyPixelHeight as String: info.storedHeight,
      kCGImagePropertyOrientation as String: info.orientation.rawValue,
      kCGImagePropertyHasAlpha as String: info.hasAlpha,
      kCGImagePropertyDepth as String: info.bitsPerComponent,
      kCGImagePropertyColorModel as String: info.colorModel == .gray
        ? "Gray" : info.colorModel == .cmyk ? "CMYK" : "RGB",
    ]
  }

  private static func fields(of data: Data) -> [String: Any] {
    let fields = (try? DecoderRegistry.standard.metadata(of: data))?.fields ?? EXIFFields()
    var tiff: [String: Any] = [:]
    tiff[kCGImagePropertyTIFFMake as String] = fields.make
    tiff[kCGImagePropertyTIFFModel as String] = fields.model
    var exif: [String: Any] = [:]
    exif[kCGImagePropertyExifFNumber as String] = fields.fNumber
    exif[kCGImagePropertyExifExposureTime as String] = fields.exposureTime
    exif[kCGImagePropertyExifISOSpeedRatings as String] = fields.iso.map { [$0] }
    var place: [String: Any] = [:]
    place[kCGImagePropertyGPSLatitude as String] = fields.latitude.map { abs($0) }
    place[kCGImagePropertyGPSLatitudeRef as String] = fields.latitude.map { $0 < 0 ? "S" : "N" }
    place[kCGImagePropertyGPSLongitude as String] = fields.longitude.map { abs($0) }
    place[kCGImagePropertyGPSLongitudeRef as String] = fields.longitude.map { $0 < 0 ? "W" : "E" }
    return [
      kCGImagePropertyTIFFDictionary as String: tiff, kCGImagePropertyExifDictionary as String: exif,
      kCGImagePropertyGPSDictionary as String: place,
    ]
  }

  private static let types: [ImageFormat: String] = [
    .jpeg: "public.jpeg", .png: "public.png", .apng: "public.png", .gif: "com.compuserve.gif",
    .webp: "org.webmproject.webp",
  ]

  func decode(_ data: Data, _ request: _DecodeRequest) -> CGImage? {
    if let file = StubFile(data) {
      guard file.pictures.indices.contains(request.index) else { return nil }
      var inner = request
      inner.index = 0
      let image = decode(file.pictures[request.index], inner)
      guard request.isHighRange, file.headroom > 1 else { return image }
      return image.flatMap { Self.brightened($0, by: Float(file.headroom)) }
    }
    guard let info = try? SystemPicture.info(of: data), info.frameCount == 1, request.index == 0 else { return nil }
    return try? unsafe data.withImageBytes { (bytes) throws(ImageError) in
      try unsafe image(bytes, info, request)
    }
  }

  private func image(
    _ bytes: UnsafeRawBufferPointer,
    _ info: ImageInfo,
    _ request: _DecodeRequest,
  ) throws(ImageError) -> CGImage? {
    var options = DecodeOptions()
    if let longest = request.longestSide { options.size = .pixels(Double(longest), Double(longest), .fit) }
    var plan = try options.plan(for: info)
    let scale = request.longestSide == nil ? 1 / Double(request.subsampling) : plan.scale
    let rows = try unsafe SystemPicture.rows(bytes, info, scale: scale, isWhole: request.isFinal)
    guard request.longestSide != nil else { return Self.stored(rows, info) }
    // In the file's own colours, as ImageIO delivers them; inks become colours.
    var shown = ImageInfo(
      format: info.format,
      storedWidth: info.storedWidth,
      storedHeight: info.storedHeight,
      orientation: info.orientation,
    )
    shown.colorModel = info.colorModel
    if rows.colorModel == .cmyk { shown.colorProfile = info.colorProfile }
    if !request.isUpright {
      shown = ImageInfo(format: info.format, storedWidth: info.storedWidth, storedHeight: info.storedHeight)
      plan = try options.plan(for: shown)
    }
    let control = DecodeControl(isCancelled: nil, timeLimit: nil)
    // A file that ends too early is filled up, and nothing is said.
    let bitmap = try Renderer(info: shown, plan: plan, control: control).render(rows, acceptsPartial: true).bitmap
    let data = unsafe bitmap.withUnsafeBytes { unsafe Data($0) }
    let space = rows.colorModel == .cmyk ? CGColorSpace(name: CGColorSpace.sRGB) : Self.space(of: info, rows)
    let plain = Self.image(data, bitmap.width, bitmap.height, space, hasAlpha: bitmap.alpha != .opaque)
    return plain.flatMap { Self.drawn($0) }
  }

  /// Returns an image whose brightest byte is brighter than white.
  private static func brightened(_ image: CGImage, by headroom: Float) -> CGImage? {
    guard let space = image.colorSpace, let provider = image.dataProvider else { return nil }
    return unsafe CGImage(
      headroom: headroom,
      width: image.width,
      height: image.height,
      bitsPerComponent: image.bitsPerComponent,
      bitsPerPixel: image.bitsPerPixel,
      bytesPerRow: image.bytesPerRow,
      space: space,
      bitmapInfo: image.bitmapInfo,
      provider: provider,
      decode: nil,
      shouldInterpolate: true,
      intent: .defaultIntent,
    )
  }

  /// Returns an image as ImageIO's thumbnails are: drawn in a context, with alpha first and bytes reversed.
  private static func drawn(_ image: CGImage) -> CGImage? {
    let hasAlpha = image.alphaInfo == .last
    var bytes: [UInt8] = []
    let pixels = image._pixels
    bytes.reserveCapacity(pixels.count)
    for offset in stride(from: 0, to: pixels.count, by: 4) {
      let coverage = hasAlpha ? Int(pixels[offset + 3]) : 255
      for index in [2, 1, 0] { bytes.append(UInt8((Int(pixels[offset + index]) * coverage + 127) / 255)) }
      bytes.append(hasAlpha ? UInt8(coverage) : 0)
    }
    guard let space = image.colorSpace, let provider = CGDataProvider(data: Data(bytes) as NSData) else { return nil }
    let alpha: CGImageAlphaInfo = hasAlpha ? .premultipliedFirst : .noneSkipFirst
    return unsafe CGImage(
      width: image.width,
      height: image.height,
      bitsPerComponent: 8,
      bitsPerPixel: 32,
      bytesPerRow: 4 * image.width,
      space: space,
      bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue | CGBitmapInfo.byteOrder32Little.rawValue),
      provider: provider,
      decode: nil,
      shouldInterpolate: true,
      intent: .defaultIntent,
    )
  }

  /// Returns all rows as they are stored.
  private static func stored(_ rows: any RowSource, _ info: ImageInfo) -> CGImage? {
    // Gray where nothing was decoded.
    var pixels = [UInt8](repeating: 128, count: 4 * rows.width * rows.height)
    var row = 0
    var isCorrupt = false
    unsafe pixels.withUnsafeMutableBytes { target in
      while row < rows.height {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[(4 * row * rows.width)...])
        let count = min(16, rows.height - row)
        do throws(ImageError) {
          let got = try unsafe rows.read(into: rest, bytesPerRow: 4 * rows.width, count: count)
          guard got > 0 else { break }
          row += got
        } catch {
          isCorrupt = info.format == .png && error.code == .corrupt
          break
        }
      }
    }
    if info.format == .png, rows.damage?.code == .corrupt { isCorrupt = true }
    guard row > 0, !isCorrupt else { return nil }
    if info.colorModel == .gray, !rows.hasAlpha, rows.colorModel == .rgb {
      let gray = stride(from: 0, to: pixels.count, by: 4).map { pixels[$0] }
      return image(Data(gray), rows.width, rows.height, graySpace(of: info), hasAlpha: false, bytesPerPixel: 1)
    }
    return image(Data(pixels), rows.width, rows.height, space(of: info, rows), hasAlpha: rows.hasAlpha)
  }

  private static func space(of info: ImageInfo, _ rows: any RowSource) -> CGColorSpace? {
    if rows.colorModel == .cmyk {
      let own = info.colorProfile.flatMap { CGColorSpace(iccData: $0.data as NSData) }
      return own?.model == .cmyk ? own : CGColorSpaceCreateDeviceCMYK()
    }
    let own = info.colorProfile.flatMap { CGColorSpace(iccData: $0.data as NSData) }
    return own?.model == .rgb ? own : CGColorSpace(name: CGColorSpace.sRGB)
  }

  private static func graySpace(of info: ImageInfo) -> CGColorSpace? {
    let own = info.colorProfile.flatMap { CGColorSpace(iccData: $0.data as NSData) }
    return own?.model == .monochrome ? own : CGColorSpaceCreateDeviceGray()
  }

  private static func image(
    _ data: Data,
    _ width: Int,
    _ height: Int,
    _ space: CGColorSpace?,
    hasAlpha: Bool,
    bytesPerPixel: Int = 4,
  ) -> CGImage? {
    guard let space, let provider = CGDataProvider(data: data as NSData) else { return nil }
    let isInk = space.model == .cmyk
    let alpha: CGImageAlphaInfo = bytesPerPixel == 1 || isInk ? .none : hasAlpha ? .last : .noneSkipLast
    return unsafe CGImage(
      width: width,
      height: height,
      bitsPerComponent: 8,
      bitsPerPixel: 8 * bytesPerPixel,
      bytesPerRow: width * bytesPerPixel,
      space: space,
      bitmapInfo: CGBitmapInfo(rawValue: alpha.rawValue),
      provider: provider,
      decode: nil,
      shouldInterpolate: true,
      intent: .defaultIntent,
    )
  }

  func encode(_ image: CGImage, as type: String, quality: Double, isProgressive: Bool) -> Data? {
    guard let bitmap = bitmap(of: image) else { return nil }
    let input = EncoderInput(bitmap)
    if type == "public.jpeg" {
      let options = JPEGOptions(quality: Int((quality * 100).rounded()), isProgressive: isProgressive)
      return try? JPEGEncoder().encode(input, options)
    }
    guard let picture = try? PNGEncoder().encode(input, PNGOptions()) else { return nil }
    return type == "public.png" ? picture : StubFile(type, [picture]).data
  }

  private func bitmap(of image: CGImage) -> Bitmap? {
    let pixels = image._pixels
    let hasAlpha = image.alphaInfo == .last || image.alphaInfo == .premultipliedLast
    let space: ColorSpace = image.colorSpace?.name == CGColorSpace.displayP3 ? .displayP3 : .sRGB
    let made: Bitmap? = unsafe Bitmap(
      width: image.width,
      height: image.height,
      alpha: hasAlpha ? .straight : .opaque,
      colorSpace: space,
    ) { unsafe $0.copyBytes(from: pixels) }
    return made
  }

  func convert(_ pixels: inout [UInt8], from source: CGColorSpace, to target: CGColorSpace) {
    let to: ColorSpace = target.name == CGColorSpace.displayP3 ? .displayP3 : .sRGB
    let model: ColorModel = source.model == .cmyk ? .cmyk : source.model == .monochrome ? .gray : .rgb
    let profile = source.copyICCData().map { ColorProfile(data: Data(referencing: $0)) }
    unsafe pixels.withUnsafeMutableBytes { pixels in
      if let transform = profile.flatMap({ ProfileTransform($0, model, to: to) }) {
        guard model == .gray else { return transform.apply(to: unsafe MutableElements(pixels)) }
        let colors = transform.colorsOfGrays()
        return unsafe MutableElements(pixels).updateEachPixel { SIMD4(colors[Int($0.x)], $0.w) }
      }
      var info = ImageInfo(format: .bitmap, storedWidth: pixels.count / 4, storedHeight: 1)
      info.colorModel = model
      if source.name == CGColorSpace.displayP3 { info.colorEncoding = .displayP3 }
      unsafe ColorTransform(info, rows: model == .cmyk ? .cmyk : .rgb, to: to)?.apply(to: MutableElements(pixels))
    }
  }
}

extension SIMD4<UInt8> {
  fileprivate init(_ color: SIMD4<UInt8>, _ alpha: UInt8) { self.init(color.x, color.y, color.z, alpha) }
}

/// Called before `main` of every test program.
@_cdecl("vitrine_install_stub_codecs")
public func installStubCodecs() {
  let codecs = StubCodecs()
  unsafe _ImageIO.codecs = codecs
  unsafe _CoreGraphics.colors = codecs
}
