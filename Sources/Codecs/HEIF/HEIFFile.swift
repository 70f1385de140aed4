import CLibHEIF
import VitrineImaging
import VitrineRuntime

/// libheif's state for one file.
@safe
final class HEIFFile {
  // Owned: made in init, freed in deinit, used by one thread at a time.
  private let context: OpaquePointer
  private let isTruncated: Bool
  private let isSequence: Bool
  private let items: ISOMediaItems?

  /// `bytes` must stay in place for the life of the object.
  ///
  /// With several threads, tiles are decoded at the same time; a picture without tiles takes one all the same.
  init(_ bytes: UnsafeRawBufferPointer, threadCount: Int = 1) throws(ImageError) {
    try HEIFDecoder.library.check()
    let reader = unsafe ByteReader(bytes)
    isTruncated = ISOMediaFile.isTruncated(reader)
    isSequence = ISOMediaFile.hasOnlySequences(reader)
    items = ISOMediaItems(reader)
    guard let context = unsafe heif_context_alloc() else {
      throw ImageError(.overLimit, format: .heic, "not enough memory for the HEIF decoder")
    }
    unsafe self.context = context
    // With 0, tiles are decoded on this thread. Otherwise it only waits for the others.
    unsafe heif_context_set_max_decoding_threads(context, threadCount > 1 ? Int32(clamping: threadCount) : 0)
    // The context keeps the pointer no longer than this object lives.
    let status = unsafe heif_context_read_from_memory_without_copy(context, bytes.baseAddress, bytes.count, nil)
    // Everything is initialised here, so throwing runs deinit.
    try unsafe check(status, "inside its header")
  }

  deinit { unsafe heif_context_free(context) }

  /// Makes libheif reject coded pictures that are much larger than `image` in the boxes, whatever their own headers
  /// say.
  func limitSize(to image: HEIFImage) {
    // Coded pictures are rounded up to whole blocks, and tiles may extend beyond the picture.
    unsafe heif_context_set_maximum_image_size_limit(context, Int32(clamping: max(512, image.codedSide) + 64))
  }

  func primaryImage() throws(ImageError) -> HEIFImage {
    var handle: OpaquePointer?
    try unsafe check(heif_context_get_primary_image_handle(context, &handle), "inside its header")
    guard let handle = unsafe handle else {
      throw ImageError(.corrupt, format: .heic, "corrupt: the file has no primary image")
    }
    return unsafe HEIFImage(handle, items, items?.primary.id)
  }

  /// Throws if libheif reports an error.
  func check(_ status: heif_error, _ place: String) throws(ImageError) {
    guard unsafe status.code != heif_error_Ok else { return }
    // A text of libheif that ends in a zero and outlives the failed call.
    let text = unsafe status.message.map { unsafe String(cString: $0) } ?? "no reason given"
    let subcode = unsafe status.subcode
    if subcode == heif_suberror_Security_limit_exceeded {
      throw ImageError(.overLimit, format: .heic, "heic over the limit: \(text)")
    }
    if isTruncated || subcode == heif_suberror_End_of_data {
      throw ImageError(.truncated, format: .heic, "truncated: the file ends \(place)")
    }
    if isSequence {
      throw ImageError(.unsupported, format: .heic, "image sequences without a primary image cannot be decoded")
    }
    switch unsafe status.code {
    case heif_error_Unsupported_filetype, heif_error_Unsupported_feature, heif_error_Plugin_loading_error:
      throw ImageError(.unsupported, format: .heic, "an unsupported kind of HEIF: \(text)")
    case heif_error_Memory_allocation_error:
      throw ImageError(.overLimit, format: .heic, "heic over the limit: \(text)")
    default: throw ImageError(.corrupt, format: .heic, "corrupt \(place): \(text)")
    }
  }
}

/// An image of a file, not decoded yet.
///
/// The size is the stored image's.
@safe
final class HEIFImage {
  let width: Int
  let height: Int
  /// The orientation of the stored image; `nil` if libheif applies the transforms of the file.
  ///
  /// libheif takes an eighth of a decode's time to rotate 12 megapixels by a quarter, and holds the image twice.
  let orientation: Orientation?
  // Owned: passed by libheif, released in deinit.
  let handle: OpaquePointer
  private let items: ISOMediaItems?

  init(_ handle: OpaquePointer, _ items: ISOMediaItems?, _ id: Int?) {
    unsafe self.handle = handle
    self.items = items
    // Alpha is an image of its own: libheif applies its transforms in any case.
    let isOpaque = unsafe heif_image_handle_has_alpha_channel(handle) == 0
    orientation = isOpaque ? id.flatMap { items?.orientation(of: $0) } : nil
    (width, height) = unsafe (orientation ?? .up).applied(
      width: Int(heif_image_handle_get_width(handle)),
      height: Int(heif_image_handle_get_height(handle)),
    )
  }

  deinit { unsafe heif_image_handle_release(handle) }

  /// The longer side before cropping and rotating.
  var codedSide: Int {
    unsafe Int(max(heif_image_handle_get_ispe_width(handle), heif_image_handle_get_ispe_height(handle)))
  }
  var hasAlpha: Bool { unsafe heif_image_handle_has_alpha_channel(handle) != 0 }
  var isPremultiplied: Bool { unsafe heif_image_handle_is_premultiplied_alpha(handle) != 0 }

  var bitsPerComponent: Int {
    let bits = unsafe Int(heif_image_handle_get_luma_bits_per_pixel(handle))
    return bits > 0 ? bits : 8
  }

  private var profileSize: Int { unsafe heif_image_handle_get_raw_color_profile_size(handle) }

  func profile(byteLimit: Int) -> ColorProfile? {
    if profileSize > 0 {
      guard profileSize <= byteLimit else { return nil }
      var bytes = [UInt8](repeating: 0, count: profileSize)
      // The room that libheif asks for.
      let status = unsafe bytes.withUnsafeMutableBytes { target in
        unsafe heif_image_handle_get_raw_color_profile(handle, target.baseAddress).code
      }
      return status == heif_error_Ok ? ColorProfile(data: Data(bytes)) : nil
    }
    return codePoints.flatMap { ColorProfile(primaries: $0.primaries, transfer: $0.transfer) }
  }

  /// The colours of high dynamic range, by the profile or else by code points; `nil` for others.
  ///
  /// `peak` is the brightest content in nits, if the file says.
  func highRange(_ profile: ColorProfile?, peak: Double?) -> HighRangeColors? {
    if profileSize > 0 { return profile?.highRange(peak: peak) }
    return codePoints.flatMap { HighRangeColors(primaries: $0.primaries, transfer: $0.transfer, peak: peak) }
  }

  /// The code points of the colours (ITU-T H.273), if the file names them.
  private var codePoints: (primaries: Int, transfer: Int)? {
    var profile: UnsafeMutablePointer<heif_color_profile_nclx>?
    let status = unsafe heif_image_handle_get_nclx_color_profile(handle, &profile).code
    guard status == heif_error_Ok, let profile = unsafe profile else { return nil }
    defer { unsafe heif_nclx_color_profile_free(profile) }
    return unsafe (
      Int(profile.pointee.color_primaries.rawValue), Int(profile.pointee.transfer_characteristics.rawValue),
    )
  }

  /// The embedded thumbnails.
  var thumbnails: [HEIFImage] {
    let count = min(16, unsafe heif_image_handle_get_number_of_thumbnails(handle))
    guard count > 0 else { return [] }
    var identifiers = [heif_item_id](repeating: 0, count: Int(count))
    let found = unsafe heif_image_handle_get_list_of_thumbnail_IDs(handle, &identifiers, count)
    return identifiers.prefix(Int(max(0, found))).compactMap { identifier in
      var thumbnail: OpaquePointer?
      let status = unsafe heif_image_handle_get_thumbnail(handle, identifier, &thumbnail).code
      guard status == heif_error_Ok, let thumbnail = unsafe thumbnail else { return nil }
      return unsafe HEIFImage(thumbnail, items, Int(identifier))
    }
  }

  /// Returns `true` if `thumbnail` can stand for this picture: same shape, orientation and colours, and at least `scale`
  /// of its size.
  func isSame(_ thumbnail: HEIFImage, atScale scale: Double) -> Bool {
    guard thumbnail.width > 0, thumbnail.width < width, !hasAlpha || thumbnail.hasAlpha else { return false }
    guard thumbnail.profileSize == 0 || thumbnail.profileSize == profileSize else { return false }
    guard (thumbnail.orientation ?? .up) == (orientation ?? .up) else { return false }
    let (x, y) = (Double(thumbnail.width) / Double(width), Double(thumbnail.height) / Double(height))
    // Its sides are rounded to whole numbers, so one may be off by one.
    let isSameShape = abs(x * Double(height) - Double(thumbnail.height)) <= 1
    return isSameShape && min(x, y) >= scale
  }
}
