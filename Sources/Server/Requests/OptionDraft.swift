import VitrineImaging
import VitrineRuntime

/// A request while its URL is being read.
struct OptionDraft {
  var source: ThumbnailRequest.Source?
  var options: ThumbnailOptions
  var format: ImageFormat?
  var isInfo = false
  /// The source that is shown if there is an error.
  var fallback: ThumbnailRequest.Source?
  var expires: Date?

  private let configuration: ThumbnailURLs.Configuration
  private let presets: [ByteString: Preset]
  /// The number of the pipeline that operations go to.
  private var pipeline = 0
  private var optionCount = 0
  private var presetCount = 0
  private var openPresets: [String] = []

  init(_ configuration: ThumbnailURLs.Configuration, _ presets: [ByteString: Preset]) {
    (self.configuration, self.presets, options) = (configuration, presets, configuration.defaults)
  }

  /// The options of a preset, by pipelines.
  typealias Preset = [[URLOption]]

  /// Begins a further pipeline, or continues the pipeline that a preset has begun.
  mutating func beginPipeline() throws(RequestError) {
    pipeline += 1
    guard pipeline < configuration.maxPipelines else {
      throw RequestError(400, "there are more than \(configuration.maxPipelines) pipelines")
    }
    if options.pipelines.count == pipeline { options.pipelines.append(ImageOperations()) }
  }

  /// Counts an option of the URL.
  mutating func count() throws(RequestError) {
    optionCount += 1
    guard optionCount <= configuration.maxOptions else {
      throw RequestError(400, "there are more than \(configuration.maxOptions) options")
    }
  }

  mutating func apply(_ option: URLOption) throws(RequestError) {
    let (name, texts) = (option.name, option.values)
    guard ImageOperation.named(name) == nil else {
      return try Self.asked { () throws(ImageOperationError) in
        try options.pipelines[pipeline].apply(name, texts, at: .url)
      }
    }
    guard let output = OptionTable.options[name] else { throw Self.refusal(of: name) }
    let values = try Self.asked { () throws(ImageOperationError) in try output.syntax.read(texts, as: name) }
    if let values { try output.apply(values, &self) }
  }

  /// Turns errors of operations into errors of the request.
  private static func asked<Value>(_ body: () throws(ImageOperationError) -> Value) throws(RequestError) -> Value {
    do throws(ImageOperationError) {
      return try body()
    } catch {
      throw RequestError(error)
    }
  }

  private static func refusal(of name: String) -> RequestError {
    guard let reason = OptionTable.refused[name] else {
      return RequestError(400, "unknown option '\(name.prefix(40))'")
    }
    return RequestError(400, "the option '\(name)' is not supported: \(reason)")
  }

  /// Applies the options of a preset, which may name others.
  mutating func apply(preset name: String) throws(RequestError) {
    guard let list = presets[ByteString(name)] else {
      if configuration.skipsUnknownPresets { return }
      throw RequestError(400, "unknown preset '\(name.prefix(40))'")
    }
    guard !openPresets.contains(name) else { throw RequestError(400, "the preset '\(name)' names itself") }
    // Presets that name several others could grow without bound.
    presetCount += 1
    guard presetCount <= 100 else { throw RequestError(400, "there are too many presets") }
    openPresets.append(name)
    let first = pipeline
    for (index, options) in list.enumerated() {
      if index > 0 { try beginPipeline() }
      for option in options { try apply(option) }
    }
    pipeline = first
    openPresets.removeLast()
  }

  /// Applies the preset for all requests, if there is one.
  mutating func applyDefaultPreset() throws(RequestError) {
    if presets[ByteString("default")] != nil { try apply(preset: "default") }
  }

  /// Returns the format of a name or an extension.
  func format(_ name: String) throws(RequestError) -> ImageFormat {
    let name = name.lowercased()
    guard let format = configuration.formats.first(where: { $0.isNamed(name) }) else {
      let names = configuration.formats.map(\.fileExtension).joined(separator: ", ")
      throw RequestError(400, "the format '\(name.prefix(20))' is not one of \(names)")
    }
    return format
  }

  /// Returns the format that sources may have by a name or an extension.
  func sourceFormat(_ name: String) throws(RequestError) -> ImageFormat {
    let text = name.lowercased()
    guard let format = ImageFormat.all.first(where: { $0.isNamed(text) }) else {
      throw RequestError(400, "the option 'skip_processing' takes formats of sources, not '\(name.prefix(20))'")
    }
    return format
  }

  /// Reads a source that an option names.
  func source(inBase64 text: String) throws(RequestError) -> ThumbnailRequest.Source {
    guard let source = Base64URL.decode(padded: text).flatMap({ String(validating: $0, as: UTF8.self) }) else {
      throw RequestError(400, "the option 'fallback_image_url' takes a source in base64")
    }
    do throws(RequestError) {
      return try configuration.sources.source(source)
    } catch {
      // Its client has named two sources.
      let text = "the option 'fallback_image_url': \(error.text)"
      throw RequestError(error.status, text, code: error.code, reason: error.reason)
    }
  }

  /// Throws if options do not go together.
  func check() throws(RequestError) {
    for sides in options.pipelines.map(\.mostSides) {
      guard max(sides.width, sides.height) <= Double(configuration.maxSide) else {
        throw RequestError(400, "a side is longer than \(configuration.maxSide) pixels")
      }
      guard sides.width * sides.height <= Double(configuration.maxPixels) else {
        throw RequestError(400, "there are more than \(configuration.maxPixels) pixels")
      }
    }
  }

  /// Returns the request.
  mutating func request() throws(RequestError) -> ThumbnailRequest {
    guard let source else { throw RequestError(400, "the source is missing") }
    // A file whose format is not the named one is not passed on.
    if let format { options.passedOn.formIntersection([format]) }
    // An empty pipeline changes nothing.
    options.chained.removeAll { $0 == ImageOperations() }
    for index in options.pipelines.indices where configuration.maxResultSide > 0 {
      let asked = options.pipelines[index][number: .maximumSide] ?? .infinity
      options.pipelines[index][number: .maximumSide] = min(asked, Double(configuration.maxResultSide))
    }
    try check()
    var request = ThumbnailRequest(source, options: options, format: format, isInfo: isInfo, expires: expires)
    request.fallback = fallback
    return request
  }
}
