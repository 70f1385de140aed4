import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel
import VitrineRuntime

/// The panel with the facts about a photograph.
@MainActor
@safe
final class InfoPanel {
  let widget: Widget
  private let pipeline: ImagePipeline
  private let rows: Widget
  private var shown: GalleryItem?
  private var origin: (ImageResponse.Origin, isStale: Bool)?
  private var facts: PhotoFacts?
  private var histogram: Bitmap?
  private var freshness: PhotoFreshness?
  private var damage: ImageError?
  private var error: LoadError?
  private var reading: Task<Void, Never>?
  /// True if all fields of the metadata are shown.
  private var showsFields = false
  /// True if the place of the photograph is shown; it is asked for each time.
  private var showsPlace = false
  private static let queue = WorkQueue(label: "gallery-info", width: 1)
  private nonisolated static let histogramHeight = 80

  init(_ pipeline: ImagePipeline) {
    self.pipeline = pipeline
    rows = .box(GTK_ORIENTATION_VERTICAL, spacing: 10)
    rows.margins(16)
    widget = .scrolled(rows)
    widget.addClass("info").expands(horizontally: false)
    widget.minimumSize(width: 270)
    widget.setAccessibleName(translated("Information"))
    widget.isShown = false
  }

  isolated deinit { reading?.cancel() }

  /// Shows the facts about a photograph; nothing is read while the panel is hidden.
  func show(
    _ item: GalleryItem?,
    _ origin: (ImageResponse.Origin, isStale: Bool)?,
    _ damage: ImageError?,
    _ error: LoadError?,
  ) {
    (self.origin, self.damage, self.error) = (origin, damage, error)
    guard widget.isShown else {
      shown = nil
      return
    }
    guard item != shown || item == nil else { return fill() }
    reading?.cancel()
    (shown, facts, freshness, showsPlace, histogram) = (item, nil, nil, false, nil)
    fill()
    guard let item, !item.isFolder else { return }
    let pipeline = pipeline
    reading = Task { [weak self] in
      let facts = try? await Self.read(item, pipeline)
      guard !Task.isCancelled, let self, shown == item else { return }
      self.facts = facts
      fill()
      // A small one has the same shares, and is in the caches.
      var request = item.request
      request.size = .pixels(256)
      if let small = try? await pipeline.image(for: request), shown == item {
        histogram = try? await Self.queue.run { _ in Histogram(small).drawn(height: Self.histogramHeight) }
        guard shown == item else { return }
        fill()
      }
      guard item.path == nil, let freshness = await Self.freshness(of: item, pipeline), shown == item else { return }
      self.freshness = freshness
      fill()
    }
  }

  /// Reads how fresh a server's image is; it comes from the caches, where it has just been put.
  private static func freshness(of item: GalleryItem, _ pipeline: ImagePipeline) async -> PhotoFreshness? {
    var request = item.request
    request.size = .pixels(64)
    guard let response = try? await pipeline.imageTask(for: request).response else { return nil }
    return PhotoFreshness(confirmed: response.confirmed, expires: response.expires, isStale: response.isStale)
  }

  private static func read(_ item: GalleryItem, _ pipeline: ImagePipeline) async throws -> PhotoFacts {
    let file = try await pipeline.resources.bytes(for: item.request).content
    let point = unsafe String(cString: nl_langinfo(nl_item(RADIXCHAR)))
    return try await queue.run { _ in
      let decoders = pipeline.configuration.decoders
      let limits = pipeline.configuration.decodeLimits
      let info = try decoders.info(of: file, limits: limits)
      let metadata = try? decoders.metadata(of: file, limits: limits)
      return PhotoFacts(info, metadata, byteCount: file.byteCount, decimalPoint: point)
    }
  }

  // MARK: Rows

  private func fill() {
    rows.removeChildren()
    guard let item = shown else { return add(translated("Nothing is selected"), "") }
    add(translated("Name"), item.name)
    add(item.path == nil ? translated("Server") : translated("Folder"), item.container)
    if let damage { add(translated("Damaged"), damage.detail) }
    if let error { add(translated("Problem"), error.detail) }
    for fact in facts?.facts ?? [] { add(Self.title(fact.kind), fact.text) }
    if let histogram { rows.add(Self.picture(of: histogram)) }
    if let origin { add(translated("Loaded from"), Self.text(origin.0, isStale: origin.isStale)) }
    addFreshness()
    addFields()
    guard let place = facts?.place else { return }
    if showsPlace {
      add(translated("Place"), "\(Self.degrees(place.latitude, "N", "S")), \(Self.degrees(place.longitude, "E", "W"))")
    } else {
      let button = Widget.button(translated("Show the Place"))
      button.on("clicked") { [weak self] in
        self?.showsPlace = true
        self?.fill()
      }
      rows.add(button)
    }
  }

  /// Adds a row that opens, with all fields of the metadata.
  private func addFields() {
    guard let fields = facts?.fields, !fields.isEmpty else { return }
    let expander = Widget(of: gtk_expander_get_type())
    expander.set("label", translated("All metadata (%s)", "\(fields.count)"))
    expander.set("expanded", showsFields)
    let list = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 6)
    for field in fields { list.add(Self.row(field.name, field.text)) }
    expander.set("child", list)
    expander.on("notify::expanded") { [weak self, weak expander] in
      self?.showsFields = expander?.get("expanded") ?? false
    }
    rows.add(expander)
  }

  private static func picture(of histogram: Bitmap) -> Widget {
    let picture = Widget(of: gtk_picture_get_type())
    unsafe picture.set("paintable", GTKObject(histogram.makeTexture(), isOwned: true))
    picture.minimumSize(width: histogram.width / 2, height: histogramHeight)
    picture.addClass("histogram")
    picture.setAccessibleName(translated("Histogram"))
    return picture
  }

  private func addFreshness() {
    guard let freshness else { return }
    let now = Date()
    if let age = freshness.age(at: now) { add(translated("Confirmed by the server"), Self.ago(age)) }
    switch freshness.remaining(at: now) {
    case .unlimited: add(translated("Fresh"), translated("for ever"))
    case .left(let time): add(translated("Fresh"), Self.left(time))
    case .over: add(translated("Fresh"), translated("no longer, the server is asked each time"))
    }
  }

  private static func ago(_ span: PhotoFreshness.Span) -> String {
    switch span.unit {
    case .seconds where span.count < 5: translated("just now")
    case .seconds: translated("%s second ago", many: "%s seconds ago", span.count)
    case .minutes: translated("%s minute ago", many: "%s minutes ago", span.count)
    case .hours: translated("%s hour ago", many: "%s hours ago", span.count)
    case .days: translated("%s day ago", many: "%s days ago", span.count)
    }
  }

  private static func left(_ span: PhotoFreshness.Span) -> String {
    switch span.unit {
    case .seconds: translated("for another second", many: "for another %s seconds", span.count)
    case .minutes: translated("for another minute", many: "for another %s minutes", span.count)
    case .hours: translated("for another hour", many: "for another %s hours", span.count)
    case .days: translated("for another day", many: "for another %s days", span.count)
    }
  }

  private func add(_ title: String, _ text: String) { rows.add(Self.row(title, text)) }

  private static func row(_ title: String, _ text: String) -> Widget {
    let heading = Widget.label(title, "fact")
    heading.set("xalign", 0.0)
    let row = Widget.box(GTK_ORIENTATION_VERTICAL, [heading])
    if !text.isEmpty {
      let value = Widget.label(text)
      value.set("xalign", 0.0)
      value.set("wrap", true)
      value.set("selectable", true)
      value.set("wrap-mode", PANGO_WRAP_WORD_CHAR)
      value.setAccessibleName("\(title): \(text)")
      row.add(value)
    }
    return row
  }

  private static func title(_ kind: PhotoFacts.Kind) -> String {
    switch kind {
    case .format: translated("Format")
    case .pixels: translated("Pixels")
    case .size: translated("Size of the file")
    case .taken: translated("Taken")
    case .camera: translated("Camera")
    case .lens: translated("Lens")
    case .exposure: translated("Exposure")
    case .flash: translated("Flash")
    case .colors: translated("Colour profile")
    case .software: translated("Software")
    case .artist: translated("Artist")
    case .copyright: translated("Copyright")
    }
  }

  private static func text(_ origin: ImageResponse.Origin, isStale: Bool) -> String {
    let source =
      switch origin {
      case .memory: translated("memory")
      case .disk: translated("the cache on disk")
      case .revalidated: translated("the cache on disk, confirmed by the server")
      case .network: translated("the server")
      case .local: translated("the file")
      }
    return isStale ? translated("%s, out of date", source) : source
  }

  private static func degrees(_ value: Double, _ positive: String, _ negative: String) -> String {
    let thousandths = Int((abs(value) * 10_000).rounded())
    let rest = String(10_000 + thousandths % 10_000).dropFirst()
    return "\(thousandths / 10_000).\(rest)° \(value < 0 ? negative : positive)"
  }
}
