import VitrineImaging
import VitrineRuntime

// The options of the file and of the response.
extension OptionTable {
  static let outputs: [Option] = [
    Option(
      "preset pr",
      [.init("names", .texts("", 20))],
      "pr:small",
      "Stands for options that the server's settings name.",
    ) { (values, draft) throws(RequestError) in
      for name in values.texts("names") { try draft.apply(preset: name) }
    },
    Option(
      "quality q",
      [.init("quality", .whole(0...100))],
      keepsWhenEmpty: true,
      "q:80",
      "Sets the quality on the scale of each format; 0 is the default of the format.",
    ) { values, draft in
      // 0 is the default of the format, as in imgproxy.
      draft.options.quality = values.number("quality").flatMap { $0 == 0 ? nil : Int($0) }
    },
    Option(
      "format_quality fq",
      [.init("formats and qualities", .texts("by turns", 12))],
      "fq:avif:60:webp:75",
      "Sets qualities of single formats, where there is no `quality`.",
    ) { (values, draft) throws(RequestError) in
      try setQualities(values.texts("formats and qualities")[...], &draft)
    },
    Option(
      "format f ext",
      [.init("format", .text(""))],
      "f:webp",
      "Sets the format; an extension behind the source precedes it.",
    ) { (values, draft) throws(RequestError) in
      draft.format = try values.text("format").map { name throws(RequestError) in try draft.format(name) }
    },
    Option(
      "strip_metadata sm",
      [.init("strip", .flag)],
      keepsWhenEmpty: true,
      "sm:0",
      "Keeps all metadata with 0, with the place where the picture was taken.",
    ) { values, draft in
      draft.options.metadata = !values.flag("strip") ? .all : draft.options.metadata == .none ? .none : .copyright
    },
    Option(
      "keep_copyright kcr",
      [.init("keep", .flag)],
      keepsWhenEmpty: true,
      "kcr:0",
      "Removes copyright and author with 0; they are kept by default.",
    ) { values, draft in
      guard draft.options.metadata != .all else { return }
      draft.options.metadata = values.flag("keep") ? .copyright : .none
    },
    Option(
      "strip_color_profile scp",
      [.init("strip", .flag)],
      keepsWhenEmpty: true,
      "scp:0",
      "Keeps Display P3 with 0.",
    ) { values, draft in draft.options.keepsWideColors = !values.flag("strip") },
    Option(
      "preserve_hdr ph",
      [.init("preserve", .flag)],
      keepsWhenEmpty: true,
      "ph:1",
      "Keeps the high dynamic range of a picture in a JPEG with 1, as a gain map.",
    ) { values, draft in draft.options.keepsGainMap = values.flag("preserve") },
    Option(
      "page pg",
      [.init("page", .whole(0...9999), initially: .number(0))],
      "pg:2",
      "Shows a page, or a frame, which then stands still.",
    ) { values, draft in draft.options.page = Int(values.number("page") ?? 0) },
    Option(
      "disable_animation da",
      [.init("disable", .flag)],
      keepsWhenEmpty: true,
      "da:1",
      "Shows the first frame only.",
    ) { values, draft in draft.options.animates = !values.flag("disable") },
    Option(
      "skip_processing skp",
      [.init("formats", .texts("of sources", 12))],
      "skp:svg:gif",
      "Passes on sources of these formats as they are, unless another format is asked for.",
    ) { (values, draft) throws(RequestError) in
      draft.options.passedOn = []
      for name in values.texts("formats") where !name.isEmpty {
        draft.options.passedOn.insert(try draft.sourceFormat(name))
      }
    },
    Option(
      "fallback_image_url fiu",
      [.init("base64", .text("a source in base64 for URLs"))],
      "fiu:aHR0cHM6Ly9leGFtcGxlLm9yZy9lcnJvci5wbmc",
      "Shows another source if there is an error.",
    ) { (values, draft) throws(RequestError) in
      draft.fallback = try values.text("base64").map { text throws(RequestError) in try draft.source(inBase64: text) }
    },
    Option(
      "return_attachment att",
      [.init("save", .flag, initially: .flag(false))],
      "att:1",
      "Has the answer saved as a file.",
    ) { values, draft in draft.options.isAttachment = values.flag("save") },
    Option(
      "filename fn",
      [.init("name", .text("")), .init("base64", .flag, initially: .flag(false))],
      "fn:cat",
      "Sets the name of the file, in base64 for URLs if the second value says so.",
    ) { (values, draft) throws(RequestError) in try setFileName(values, &draft.options) },
    Option(
      "expires exp",
      [.init("time", .whole(0...253_402_300_799), .seconds)],
      "exp:4102444800",
      "Is 404 from then on, in seconds since 1970; of several, the first to come counts.",
    ) { (values, draft) throws(RequestError) in
      guard let seconds = values.number("time") else {
        throw RequestError(400, "the option 'expires' takes seconds since 1970")
      }
      let expires = Date(timeIntervalSince1970: seconds)
      draft.expires = min(draft.expires ?? expires, expires)
    },
    Option(
      "cachebuster cb",
      [.init("text", .text(""))],
      "cb:v2",
      "Makes another URL for caches.",
    ) { values, draft in draft.options.cacheBuster = values.text("text") },
  ]

  /// Reads formats, each with a quality behind it.
  private static func setQualities(_ texts: ArraySlice<String>, _ draft: inout OptionDraft) throws(RequestError) {
    var rest = texts
    while let name = rest.popFirst() {
      let format = try draft.format(name)
      let text = rest.popFirst() ?? ""
      guard text.utf8.allSatisfy({ (48...57).contains($0) }), let quality = Int(text), (1...100).contains(quality)
      else {
        let given = text.prefix(40)
        throw RequestError(400, "the option 'fq' takes a quality from 1 to 100 after each format, not '\(given)'")
      }
      draft.options.formatQualities[format.name] = quality
    }
  }

  /// Reads a name that becomes part of a header field and the name of a file.
  private static func setFileName(_ values: OperationValues, _ options: inout ThumbnailOptions) throws(RequestError) {
    guard var name = values.text("name") else {
      options.fileName = nil
      return
    }
    func refusal(_ expected: String) -> RequestError {
      RequestError(400, "the option 'fn' takes \(expected), not '\(name.prefix(40))'")
    }
    if values.flag("base64") {
      guard let bytes = Base64URL.decode(name.utf8), let text = String(validating: bytes, as: UTF8.self) else {
        throw refusal("text in base64")
      }
      name = text
    }
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
      default: !"/\\\"".unicodeScalars.contains(scalar)
      }
    }
    guard isPlain, name.utf8.count <= 200, !name.hasPrefix(".") else { throw refusal("the name of a file") }
    options.fileName = name
  }
}
