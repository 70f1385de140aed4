import VitrineHTTP
import VitrineImaging
import VitrineRuntime

extension ThumbnailOptions {
  /// The options in the syntax of URLs, in a fixed order and without options that have their defaults.
  ///
  /// Equal options have equal texts, and different ones different texts, so it serves in validators and keys.
  public var canonical: String {
    // A pipeline of its own begins with a hyphen, which is no option.
    (parts + chained.flatMap { ["-"] + $0.texts }).joined(separator: "/")
  }

  private var parts: [String] {
    var parts = operations.texts
    func add(_ name: String, _ values: String..., if isUnusual: Bool) {
      if isUnusual { parts.append("\(name):\(values.joined(separator: ":"))") }
    }
    if let quality { add("q", "\(quality)", if: true) }
    let qualities = formatQualities.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
    add("fq", qualities.joined(separator: ":"), if: !qualities.isEmpty)
    add("sm", "0", if: metadata == .all)
    add("kcr", "0", if: metadata == .none)
    add("scp", "0", if: keepsWideColors)
    add("ph", "1", if: keepsGainMap)
    add("pg", "\(page)", if: page != 0)
    add("da", "1", if: !animates)
    add("skp", passedOn.map(\.name).sorted().joined(separator: ":"), if: !passedOn.isEmpty)
    add("att", "1", if: isAttachment)
    if let fileName { add("fn", Base64URL.encode(fileName.utf8), "1", if: true) }
    if let cacheBuster { add("cb", PercentEncoding.encode(cacheBuster), if: true) }
    return parts
  }
}
