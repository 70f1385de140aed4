import VitrineImaging

/// The options of URLs that are no operations on the picture, and the options of imgproxy that are refused.
enum OptionTable {
  /// An option of the file or of the response.
  struct Option: Sendable {
    typealias Meaning = @Sendable (OperationValues, inout OptionDraft) throws(RequestError) -> Void

    let syntax: OperationSyntax
    /// Sets it in a request.
    let apply: Meaning

    init(
      _ names: String,
      _ parameters: [OperationParameter],
      keepsWhenEmpty: Bool = false,
      _ example: String,
      _ summary: String,
      _ apply: @escaping Meaning,
    ) {
      syntax = OperationSyntax(names, parameters, keepsWhenEmpty: keepsWhenEmpty, example, summary)
      self.apply = apply
    }
  }

  /// The options by all their names.
  static let options: [String: Option] = {
    let pairs = outputs.flatMap { option in option.syntax.names.map { ($0, option) } }
    return Dictionary(uniqueKeysWithValues: pairs)
  }()

  /// The rows of all options that are understood, operations first.
  static var rows: [OperationSyntax] { ImageOperation.table.map(\.syntax) + outputs.map(\.syntax) }

  /// The options of imgproxy that are refused, and why.
  static let refused: [String: String] = {
    var reasons: [String: String] = [:]
    for (names, reason) in refusals {
      for name in names.split(separator: " ") { reasons[String(name)] = reason }
    }
    return reasons
  }()

  /// The differences from imgproxy's documentation, by the options' first names.
  private static let differences = [
    "dpr": "from 0.1 to 8",
    "gravity": "`sm` weighs edges, colors and skin; `obj` and `objw` are refused",
    "crop": "of an image that EXIF mirrors and `rotate` turns, the part that the gravity names is kept",
    "trim": "the upright image is looked at, at every pixel; frames of animations, too",
    "background": "also with an alpha, as the last two digits",
    "sharpen": "unsharp masking with that deviation",
    "watermark": "the picture is the server's, without an opacity of its own",
    "quality": "0 is the format's own default: 85 for JPEG and WebP, 75 for AVIF",
    "format": "AVIF, GIF, JPEG, JPEG XL, PNG and WebP; `best` and others are refused",
    "strip_metadata": "the colors' meaning stays in any case",
    "strip_color_profile": "0 keeps Display P3; wider profiles are brought into it",
    "preserve_hdr": "a gain map is kept, in JPEG",
    "page": "a frame stands still, also where the format moves",
    "filename": "without it and `return_attachment`, there is no `Content-Disposition`",
    "max_result_dimension": "never above the server's own",
    "expires": "of several, the first to come counts",
  ]

  /// Operations that imgproxy does not have.
  private static let additions = ["sepia", "rounded_corners"]

  /// The number of imgproxy's options of a verdict, and the rows of a table of them.
  static var comparison: (counts: [String: Int], rows: [String]) {
    var (counts, lines): ([String: Int], [String]) = ([:], [])
    func add(_ names: [String], _ verdict: String, _ text: String) {
      counts[verdict, default: 0] += 1
      lines.append("| \(names.map { "`\($0)`" }.joined(separator: " ")) | \(verdict) | \(text) |")
    }
    for row in rows where !additions.contains(row.names[0]) {
      let difference = differences[row.names[0]]
      add(row.names, difference == nil ? "same" : "different", difference ?? row.summary)
    }
    for (names, reason) in refusals { add(names.split(separator: " ").map(String.init), "refused", reason) }
    return (counts, lines)
  }

  private static let refusals = [
    ("raw", "name the formats that are passed on in 'skip_processing'"),
    ("max_bytes mb", "set a quality instead"),
    ("autoquality aq", "set a quality instead"),
    ("max_src_resolution msr", "it is a setting of the server"),
    ("max_src_file_size msfs", "it is a setting of the server"),
    ("max_animation_frames maf", "it is a setting of the server"),
    ("max_animation_frame_resolution mafr", "it is a setting of the server"),
    ("watermark_url wmu", "the watermark is a setting of the server"),
    ("watermark_text wmt", "the watermark is a setting of the server"),
    ("watermark_size wms", "set the scale of 'watermark' instead"),
    ("watermark_rotate wm_rot wmr", "the watermark is not rotated"),
    ("watermark_shadow wmsh", "the watermark has no shadow"),
    ("style st", "SVG is not styled"),
    ("pixelate pix", "there is no such change"),
    ("monochrome mc", "set 'saturation' to 0 instead"),
    ("colorize col", "there is no such change"),
    ("gradient gr", "there is no such change"),
    ("unsharp_masking ush", "set 'sharpen' instead"),
    ("background_alpha bga", "write the alpha as the last two digits of 'background'"),
    ("blur_detections bd", "there is no detection of objects"),
    ("blur_areas ba", "there is no blur of parts"),
    ("draw_detections dd", "there is no detection of objects"),
    ("objects_position obj_pos op", "there is no detection of objects"),
    ("crop_aspect_ratio crop_ar car", "set a size with 'fill-down' instead"),
    ("resizing_algorithm ra", "all images are resampled by Lanczos3"),
    ("dpi", "thumbnails have no resolution"),
    ("color_profile cp icc", "set 'strip_color_profile' to 0 to keep Display P3"),
    ("enforce_thumbnail eth", "embedded thumbnails are not used"),
    ("jpeg_options jpgo", "set a quality instead"),
    ("png_options pngo", "PNG is lossless"),
    ("webp_options webpo", "set a quality instead"),
    ("avif_options avifo", "set a quality instead"),
    ("jxl_options jxlo", "set a quality instead"),
    ("pages pgs", "pages are not joined"),
    ("video_thumbnail_second vts", "there are no videos"),
    ("video_thumbnail_keyframes vtk", "there are no videos"),
    ("video_thumbnail_tile vtt", "there are no videos"),
    ("video_thumbnail_animation vta", "there are no videos"),
    ("hashsum hs", "sources are not compared with hashes"),
  ]
}
