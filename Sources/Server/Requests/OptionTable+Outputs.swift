import VitrineImaging
import VitrineRuntime

// The options of the file and of the response.
extension OptionTable {
  static let outputs: [Option] = [
    Option("preset", "pr", values: 20) { (values, draft) throws(RequestError) in
      for name in values.texts { try draft.apply(preset: name) }
    },
    Option("quality", "q", values: 1) { (values, draft) throws(RequestError) in
      guard let quality = try values.integer(0, in: 0...100) else { return }
      // 0 is the default of the format, as in imgproxy.
      draft.options.quality = quality == 0 ? nil : quality
    },
    Option("format_quality", "fq", values: 12) { (values, draft) throws(RequestError) in
      for index in stride(from: 0, to: values.texts.count, by: 2) {
        let format = try draft.format(values.text(index) ?? "")
        guard let quality = try values.integer(index + 1, in: 1...100) else {
          throw values.error(index + 1, "a quality from 1 to 100 after each format")
        }
        draft.options.formatQualities[format.name] = quality
      }
    },
    Option("format", "f", "ext", values: 1) { (values, draft) throws(RequestError) in
      draft.format = try values.text(0).map { name throws(RequestError) in try draft.format(name) }
    },
    Option("strip_metadata", "sm", values: 1) { (values, draft) throws(RequestError) in
      guard let strips = try values.boolean(0) else { return }
      draft.options.metadata = !strips ? .all : draft.options.metadata == .none ? .none : .copyright
    },
    Option("keep_copyright", "kcr", values: 1) { (values, draft) throws(RequestError) in
      guard let keeps = try values.boolean(0), draft.options.metadata != .all else { return }
      draft.options.metadata = keeps ? .copyright : .none
    },
    Option("strip_color_profile", "scp", values: 1) { (values, draft) throws(RequestError) in
      guard let strips = try values.boolean(0) else { return }
      draft.options.keepsWideColors = !strips
    },
    Option("page", "pg", values: 1) { (values, draft) throws(RequestError) in
      draft.options.page = try values.integer(0, in: 0...9999) ?? 0
    },
    Option("disable_animation", "da", values: 1) { (values, draft) throws(RequestError) in
      guard let isStill = try values.boolean(0) else { return }
      draft.options.animates = !isStill
    },
    Option("return_attachment", "att", values: 1) { (values, draft) throws(RequestError) in
      draft.options.isAttachment = try values.boolean(0) ?? false
    },
    Option("filename", "fn", values: 2) { (values, draft) throws(RequestError) in
      try setFileName(values, &draft.options)
    },
    Option("expires", "exp", values: 1) { (values, draft) throws(RequestError) in
      guard let seconds = try values.integer(0, in: 0...253_402_300_799) else {
        throw values.error(0, "seconds since 1970")
      }
      // Of several, the first to come counts.
      let expires = Date(timeIntervalSince1970: Double(seconds))
      draft.expires = min(draft.expires ?? expires, expires)
    },
    Option("cachebuster", "cb", values: 1) { (values, draft) throws(RequestError) in
      draft.options.cacheBuster = values.text(0)
    },
  ]

  /// Reads a name, in Base64 for URLs if a second value says so.
  private static func setFileName(_ values: OptionValues, _ options: inout ThumbnailOptions) throws(RequestError) {
    guard var name = values.text(0) else {
      options.fileName = nil
      return
    }
    if try values.boolean(1) ?? false {
      guard let bytes = Base64URL.decode(name.utf8), let text = String(validating: bytes, as: UTF8.self) else {
        throw values.error(0, "text in base64")
      }
      name = text
    }
    // It becomes part of a header field and the name of a file.
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
      default: !"/\\\"".unicodeScalars.contains(scalar)
      }
    }
    guard isPlain, name.utf8.count <= 200, !name.hasPrefix(".") else { throw values.error(0, "the name of a file") }
    options.fileName = name
  }
}
