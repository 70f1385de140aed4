import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel
import VitrineRuntime

/// The choice of the part of a photograph that is kept: a frame on the photograph, and a bar with its shape, its size and the
/// effect of saving it.
@MainActor
@safe
final class Crop {
  let widget: Widget
  private unowned let window: GalleryWindow
  private let label = Widget.label("", "crop-size")
  private let shapes: Widget
  private let preview: Widget
  private let save: Widget
  /// The photograph that is cropped; `nil` while none is.
  private var item: GalleryItem?
  /// Its file; `nil` until it has been read.
  private var file: EditedFile?
  /// The reason why it cannot be saved.
  private var problem: String?
  private var reading: Task<Void, Never>?

  /// The commands that there are meanwhile.
  static let commands: Set<Command> = [
    .back, .crop, .saveTurn, .saveAs, .copyPixels, .zoomIn, .zoomOut, .zoomFit, .zoomActual, .zoomDouble, .rotateLeft,
    .rotateRight, .flipHorizontally, .flipVertically, .fullscreen, .info, .shortcuts, .about, .quit,
  ]

  /// The shapes that there are: width and height; 0 and 0 for any, and -1 for the photograph's own.
  private static let ratios: [(Double, Double)] = [
    (0, 0), (-1, -1), (1, 1), (4, 3), (3, 2), (16, 9), (3, 4), (2, 3), (9, 16),
  ]

  init(_ window: GalleryWindow) {
    self.window = window
    let names = Self.ratios.map { ratio in
      switch ratio.0 {
      case 0: translated("Any Shape")
      case -1: translated("Same Shape")
      // Isolated, so that the width comes first in every language.
      default: "\u{2066}\(Int(ratio.0)) : \(Int(ratio.1))\u{2069}"
      }
    }
    shapes = Widget.choice(of: names)
    shapes.setAccessibleName(translated("Shape"))
    shapes.set("tooltip-text", translated("Shape"))
    preview = Widget(of: gtk_toggle_button_get_type())
    preview.set("label", translated("Preview"))
    let cancel = Widget.button(translated("Cancel"))
    let saveAs = Widget.button(translated("Save As…"))
    saveAs.set("action-name", Command.saveAs.action)
    save = .button(translated("Save"))
    save.addClass("suggested-action")
    // A narrow window with large text has less room than the texts want.
    for button in [preview, cancel, saveAs, save] {
      button.object("child")?.set("ellipsize", PANGO_ELLIPSIZE_END)
      button.set("tooltip-text", button.get("label") ?? "")
    }
    let choices = Widget.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6, [shapes, preview]).aligned(GTK_ALIGN_CENTER)
    let answers = Widget.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6, [cancel, saveAs, save]).aligned(GTK_ALIGN_CENTER)
    label.set("wrap", true)
    label.set("justify", GTK_JUSTIFY_CENTER)
    label.set("max-width-chars", 40)
    widget = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 6, [label, choices, answers])
    widget.addClass("crop").aligned(GTK_ALIGN_CENTER, GTK_ALIGN_END)
    widget.isShown = false
    shapes.on("notify::selected") { [weak self] in self?.chooseShape() }
    preview.on("toggled") { [weak self] in
      self?.window.photo.view.previewsSelection = self?.preview.get("active") ?? false
    }
    cancel.on("clicked") { [weak self] in self?.end() }
    save.on("clicked") { [weak self] in self?.finish() }
  }

  /// True while a part is being chosen.
  var isActive: Bool { item != nil }

  func toggle() { isActive ? end() : begin() }

  private func begin() {
    guard let photograph = window.photo.item, let path = photograph.path, window.photo.view.beginSelecting() else {
      return
    }
    item = photograph
    shapes.set("selected", 0)
    preview.set("active", false)
    widget.isShown = true
    window.updateControls()
    window.photo.view.focus()
    describe()
    window.updateActions()
    let limits = window.photo.pipeline.configuration.decodeLimits
    // The blocks of a JPEG are known once it has been read.
    reading = Task { [weak self] in
      let read = try? await GalleryWindow.files.run { _ in
        Result { try EditedFile(path, GalleryPipeline.decoders, limits) }
      }
      guard !Task.isCancelled, let self, isActive, let read else { return }
      do {
        let file = try read.get()
        self.file = file
        if file.info.format != .jpeg, file.encoding == nil {
          problem = translated("Pictures of this kind cannot be saved; use “Save As…”")
        }
      } catch {
        let detail = (error as? ImageError)?.detail ?? "\(error)"
        problem = translated("It cannot be saved: %s", detail)
      }
      snap()
    }
  }

  func end() {
    guard isActive else { return }
    reading?.cancel()
    (item, file, problem, reading) = (nil, nil, nil, nil)
    widget.isShown = false
    window.updateControls()
    window.photo.view.endSelecting()
    window.photo.view.focus()
    window.update()
  }

  private func finish() {
    guard isActive, save.get("sensitive") ?? false else { return }
    Task { await window.saveEdit() }
  }

  /// Uses a key: Return saves, and P shows the part alone.
  func pressed(_ key: UInt32) -> Bool {
    switch Int32(key) {
    case GDK_KEY_Return, GDK_KEY_KP_Enter: finish()
    case GDK_KEY_p: preview.set("active", !(preview.get("active") ?? false))
    case GDK_KEY_c: end()
    case GDK_KEY_h: window.photo.view.flip(.horizontal)
    case GDK_KEY_v: window.photo.view.flip(.vertical)
    default: return false
    }
    return true
  }

  /// Goes along with the photograph, and ends with it.
  func photographChanged() {
    guard isActive else { return }
    guard window.page == .photo, window.photo.item?.id == item?.id, window.photo.view.isSelecting else { return end() }
    describe()
  }

  // MARK: The part

  private func chooseShape() {
    let index: Int = shapes.get("selected") ?? 0
    guard isActive, Self.ratios.indices.contains(index) else { return }
    let (width, height) = Self.ratios[index]
    window.photo.view.selectionRatio = width == 0 ? nil : width < 0 ? window.photo.view.ratio : width / height
    window.photo.view.focus()
  }

  /// Keeps to the blocks of a JPEG, so that nothing is lost.
  private func snap() {
    guard let file, file.info.format == .jpeg else { return describe() }
    window.photo.view.selectablePart = { [weak self] part in
      guard let self else { return part }
      return lossless(part, in: file) ?? part
    }
    describe()
  }

  private func lossless(_ part: PixelRegion, in file: EditedFile) -> PixelRegion? {
    var edit = window.photo.view.turns
    edit.part = part
    return file.losslessPart(of: edit, keepsSize: window.photo.view.selectionRatio != nil)
  }

  /// Shows the size of the part, and the effect of saving it.
  private func describe() {
    let edit = window.photo.view.edit
    guard let part = edit.part else { return }
    let (width, height) = edit.turns % 2 == 0 ? (part.width, part.height) : (part.height, part.width)
    let size = "\u{2066}\(width) × \(height)\u{2069}"
    save.set("sensitive", file != nil && problem == nil)
    let text = [translated("%s pixels", size), problem ?? file.map { effect(part, $0) }].compactMap(\.self)
      .joined(separator: "\n")
    guard text != label.text else { return }
    label.text = text
    window.photo.view.describeSelection(text)
  }

  private func effect(_ part: PixelRegion, _ file: EditedFile) -> String {
    guard file.info.format == .jpeg else {
      return file.isLossless ? translated("Saved without loss") : translated("The picture is encoded again")
    }
    return lossless(part, in: file) == part
      ? translated("Whole blocks, saved without loss") : translated("The picture is encoded again")
  }
}
