import CLibHEIF
import VitrineImaging

/// The pixels of one image: 8 bits a component, RGB in three planes, or RGBA; or more bits, in numbers of 16.
@safe
final class HEIFPixels {
  /// The samples, which lie within the image.
  private enum Samples {
    case interleaved(Plane)
    case planes(red: Plane, green: Plane, blue: Plane)
    /// Numbers of so many bits, in 16 each, little-endian.
    case wide(Plane, bits: Int)
  }

  /// Rows of samples.
  private struct Plane {
    let bytes: Elements<UInt8>
    let bytesPerRow: Int
    /// The bytes of a row that are samples.
    let length: Int

    /// Returns `nil` unless the image has a plane of that size.
    init?(_ channel: heif_channel, of image: OpaquePointer, width: Int, height: Int, bytesPerPixel: Int) {
      var bytesPerRow: Int32 = 0
      guard
        unsafe Int(heif_image_get_width(image, channel)) == width,
        unsafe Int(heif_image_get_height(image, channel)) == height,
        let start = unsafe heif_image_get_plane_readonly(image, channel, &bytesPerRow),
        Int(bytesPerRow) >= width * bytesPerPixel, height > 0
      else { return nil }
      (self.bytesPerRow, length) = (Int(bytesPerRow), width * bytesPerPixel)
      // libheif's own memory, of so many rows, the last of which may end with its samples.
      bytes = unsafe Elements(UnsafeBufferPointer(start: start, count: self.bytesPerRow * (height - 1) + length))
    }

    func row(_ row: Int) -> Elements<UInt8> { bytes.extracting(row * bytesPerRow..<row * bytesPerRow + length) }
  }

  // Owned: made by libheif in init, released in deinit.
  private let image: OpaquePointer
  private let samples: Samples
  private let hasAlpha: Bool
  private let isPremultiplied: Bool

  init(_ source: HEIFImage, of file: HEIFFile, isWide: Bool = false) throws(ImageError) {
    (hasAlpha, isPremultiplied) = (source.hasAlpha, source.isPremultiplied)
    guard let options = unsafe heif_decoding_options_alloc() else {
      throw ImageError(.overLimit, format: .heic, "not enough memory for the HEIF decoder")
    }
    defer { unsafe heif_decoding_options_free(options) }
    unsafe options.pointee.convert_hdr_to_8bit = isWide ? 0 : 1
    unsafe options.pointee.ignore_transformations = source.orientation == nil ? 0 : 1
    func decoded(_ chroma: heif_chroma) throws(ImageError) -> OpaquePointer {
      var image: OpaquePointer?
      try unsafe file.check(
        heif_decode_image(source.handle, &image, heif_colorspace_RGB, chroma, options),
        "in the picture",
      )
      guard let image = unsafe image else { throw ImageError(.corrupt, format: .heic, "corrupt: there is no picture") }
      return unsafe image
    }
    // Planes are what libheif decodes to: to interleave them takes it 20 to 30 ms for 12 megapixels. It reduces numbers
    // of more than 8 bits only when it interleaves them.
    var image: OpaquePointer?
    if !source.hasAlpha, source.bitsPerComponent == 8, !isWide {
      unsafe image = try decoded(heif_chroma_444)
      if let made = unsafe image, unsafe heif_image_get_bits_per_pixel_range(made, heif_channel_R) != 8 {
        unsafe heif_image_release(made)
        unsafe image = nil
      }
    }
    let isPlanar = unsafe image != nil
    let chroma =
      isWide
      ? source.hasAlpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE
      : source.hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB
    let made: OpaquePointer
    if let image = unsafe image { unsafe made = image } else { unsafe made = try decoded(chroma) }
    guard let samples = unsafe Self.samples(of: made, isPlanar, isWide, source) else {
      unsafe heif_image_release(made)
      throw ImageError(.corrupt, format: .heic, "corrupt: the picture and the header have different sizes")
    }
    unsafe self.image = made
    self.samples = samples
  }

  private static func samples(
    of image: OpaquePointer,
    _ isPlanar: Bool,
    _ isWide: Bool,
    _ source: HEIFImage,
  ) -> Samples? {
    func plane(_ channel: heif_channel, _ bytesPerPixel: Int) -> Plane? {
      unsafe Plane(channel, of: image, width: source.width, height: source.height, bytesPerPixel: bytesPerPixel)
    }
    if isWide {
      let bits = unsafe Int(heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved))
      guard (8...16).contains(bits) else { return nil }
      return plane(heif_channel_interleaved, source.hasAlpha ? 8 : 6).map { .wide($0, bits: bits) }
    }
    guard isPlanar else {
      return plane(heif_channel_interleaved, source.hasAlpha ? 4 : 3).map { .interleaved($0) }
    }
    guard let red = plane(heif_channel_R, 1), let green = plane(heif_channel_G, 1), let blue = plane(heif_channel_B, 1)
    else { return nil }
    return .planes(red: red, green: green, blue: blue)
  }

  deinit { unsafe heif_image_release(image) }

  /// Writes one row as RGBA with straight alpha; `target` has as many pixels, of 8 or of 16 bits a component.
  func copy(row: Int, to target: MutableElements<UInt8>) {
    switch samples {
    case .planes(let red, let green, let blue):
      target.updatePixels(red: red.row(row), green: green.row(row), blue: blue.row(row))
    case .interleaved(let plane) where hasAlpha:
      target.update(from: plane.row(row))
      if isPremultiplied { target.unpremultiply() }
    case .interleaved(let plane): target.updatePixels(colors: plane.row(row))
    case .wide(let plane, let bits): copy(wide: plane.row(row), bits, to: target)
    }
  }

  private func copy(wide source: Elements<UInt8>, _ bits: Int, to target: MutableElements<UInt8>) {
    let (most, components) = ((1 << bits) - 1, hasAlpha ? 4 : 3)
    for x in 0..<target.count / 8 {
      var pixel = SIMD4<UInt32>(repeating: 65_535)
      for place in 0..<components {
        let value = Int(UInt16(littleEndian: source.load(at: 2 * (x * components + place), as: UInt16.self)))
        pixel[place] = UInt32((min(value, most) * 65_535 + most / 2) / most)
      }
      if isPremultiplied, hasAlpha, pixel.w < 65_535 {
        for place in 0..<3 { pixel[place] = pixel.w == 0 ? 0 : min(65_535, pixel[place] * 65_535 / pixel.w) }
      }
      for place in 0..<4 { target.store(UInt16(pixel[place]), at: 8 * x + 2 * place) }
    }
  }
}
