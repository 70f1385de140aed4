import VitrineCaching
import VitrineImaging
import VitrineRuntime

extension ImageRequest: Hashable {
  /// Returns a Boolean value that indicates whether two requests have the same values, priorities included.
  ///
  /// Processors and closures compare by their identifiers; a source that depends on the size, by its URL for the
  /// request's size; values of ``userInfo``, as `Equatable`, else by identity. Two values that allow neither are
  /// different. Bitmaps of placeholders compare by identity.
  public static func == (left: ImageRequest, right: ImageRequest) -> Bool {
    left.isCopy(of: right) || left.imageKey == right.imageKey && left.fields.isEqual(to: right.fields)
  }

  /// Feeds the key of the image.
  public func hash(into hasher: inout Hasher) { hasher.combine(imageKey) }
}

extension ImageRequest: CustomStringConvertible {
  /// The source, and every value that differs from its default.
  public var description: String {
    var parts = [fields.source.resolved(for: size).description]
    func add(_ name: String, _ value: some Equatable, unless usual: some Equatable) {
      if String(describing: value) != String(describing: usual) { parts.append("\(name) \(value)") }
    }
    if let size { parts.append(size.description) }
    if !processors.isEmpty { parts.append("processors \(processors.map(\.identifier).joined(separator: ", "))") }
    add("scale", scale, unless: 1.0)
    add("priority", priority, unless: Priority.normal)
    add("quality", quality.rawValue, unless: DecodeQuality.balanced.rawValue)
    add("frame", frame, unless: 0)
    add("filter", filter.rawValue, unless: ResamplingFilter.lanczos3.rawValue)
    if usesLinearLight { parts.append("linear light") }
    add("color space", colorSpace.rawValue, unless: ColorSpace.sRGB.rawValue)
    add("animates", animates, unless: false)
    add("accepts partial", acceptsPartial, unless: false)
    add("dynamic range", dynamicRange.rawValue, unless: DynamicRange.standard.rawValue)
    add("cache policy", cachePolicy, unless: CachePolicy.standard)
    if cacheAccess != .all { parts.append("cache access \(cacheAccess)") }
    if let storagePolicy { parts.append("storage policy \(storagePolicy.rawValue)") }
    if let cachePartition { parts.append("cache partition \(cachePartition)") }
    if let cacheID { parts.append("cache ID \(cacheID)") }
    // Their values may be secrets.
    if !headers.isEmpty { parts.append("headers \(headers.map(\.name).joined(separator: ", "))") }
    if !allowsExpensiveNetworkAccess { parts.append("no expensive network access") }
    if continuesDownload { parts.append("continues its download") }
    return parts.joined(separator: "; ")
  }
}

extension ImageRequest: ExpressibleByStringLiteral {
  /// Creates a request for a URL; loading fails with ``LoadError/Code/invalidURL`` if the text is not one.
  public init(stringLiteral url: String) { self.init(url: url) }
}

extension ImageRequest.Fields {
  fileprivate func isEqual(to other: Self) -> Bool {
    cachePolicy == other.cachePolicy && cacheAccess == other.cacheAccess
      && keepsEncodedData == other.keepsEncodedData && revalidates == other.revalidates
      && requiresExactPixels == other.requiresExactPixels
      && source.isEqual(to: other.source, at: size) && size == other.size && processorNames == other.processorNames
      && priority == other.priority && decoding == other.decoding && previews == other.previews
      && continuesDownload == other.continuesDownload
      && allowsExpensiveNetworkAccess == other.allowsExpensiveNetworkAccess
      && storagePolicy == other.storagePolicy && headers == other.headers && http == other.http
      && significantHeaders == other.significantHeaders && cachePartition == other.cachePartition
      && cacheID == other.cacheID && isSamePlaceholder(other.placeholder) && userInfo.isEqual(to: other.userInfo)
  }
}

extension ImageRequest.Fields {
  private func isSamePlaceholder(_ other: Placeholder?) -> Bool {
    guard let placeholder, let other else { return placeholder == nil && other == nil }
    return placeholder.isEqual(to: other)
  }
}

extension ImageSource {
  /// Returns `true` if both sources give the same bytes for an image of `size`, as far as their names show.
  fileprivate func isEqual(to other: ImageSource, at size: TargetSize?) -> Bool {
    switch (resolved(for: size).kind, other.resolved(for: size).kind) {
    case (.url(let one), .url(let other)): one == other
    case (.file(let one, let isURL), .file(let other, let isOtherURL)): one == other && isURL == isOtherURL
    case (.thumbnail(let one, let isURL, _), .thumbnail(let other, let isOtherURL, _)):
      one == other && isURL == isOtherURL
    case (.resource(let one, let folder), .resource(let other, let otherFolder)):
      one == other && folder == otherFolder
    case (.data(_, let one, let hash), .data(_, let other, let otherHash)): one == other && hash == otherHash
    case (.inline(let one, _), .inline(let other, _)): one == other
    case (.closure(let one, _), .closure(let other, _)): one == other
    case (.first(let sources), .first(let others)):
      sources.elementsEqual(others) { $0.isEqual(to: $1, at: size) }
    default: false
    }
  }
}

extension [String: any Sendable] {
  fileprivate func isEqual(to other: Self) -> Bool {
    count == other.count
      && allSatisfy { name, value in other[name].map { Self.isEqual(value, $0) } ?? false }
  }

  private static func isEqual(_ one: any Sendable, _ other: any Sendable) -> Bool {
    func isEqual<Known: Equatable>(_ one: Known, to other: any Sendable) -> Bool { one == other as? Known }
    if let one = one as? any Equatable { return isEqual(one, to: other) }
    guard type(of: one) is AnyClass, type(of: other) is AnyClass else { return false }
    return one as AnyObject === other as AnyObject
  }
}
