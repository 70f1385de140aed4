import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel

/// A cell of the grid: a picture over its name.
@MainActor
@safe
final class GalleryCell {
  /// Called with the position of the picture when it is clicked.
  var onOpen: (Int) -> Void = { _ in }
  /// Called with the place at which a menu is wanted.
  var onMenu: ((x: Double, y: Double)) -> Void = { _ in }
  /// Called when the picture shows something else.
  var onContent: () -> Void = {}
  /// The id of the picture; `nil` between two.
  private(set) var id: ItemID?
  /// The image that is shown.
  private(set) var shown: ImageResponse?
  /// True if the picture is there, or has failed.
  private(set) var isSettled = false

  private weak var cell: RemotePictureCell?
  private let root: Widget
  private let label: Widget
  /// The mark of a damaged picture.
  private let damageMark: Widget
  /// The mark of a folder.
  private let folderMark: Widget
  /// The position of the picture.
  private(set) var position = 0
  private var origin: ImageResponse.Origin?

  init(_ cell: RemotePictureCell, size: Int) {
    self.cell = cell
    let picture = Widget(cell.picture)
    label = .label("", "name")
    label.set("wrap", true)
    label.set("wrap-mode", PANGO_WRAP_WORD_CHAR)
    label.set("lines", 2)
    label.set("ellipsize", PANGO_ELLIPSIZE_END)
    label.set("justify", GTK_JUSTIFY_CENTER)
    label.set("max-width-chars", 1)
    label.minimumSize(width: size)
    damageMark = Widget(of: gtk_image_get_type())
    damageMark.set("icon-name", "dialog-warning-symbolic")
    damageMark.addClass("damage").aligned(GTK_ALIGN_END, GTK_ALIGN_END)
    damageMark.set("tooltip-text", translated("The file is damaged; a part of the picture is missing"))
    damageMark.setAccessibleName(translated("Damaged"))
    damageMark.isShown = false
    folderMark = Widget(of: gtk_image_get_type())
    folderMark.set("icon-name", "folder-symbolic")
    folderMark.addClass("folder").aligned(GTK_ALIGN_START, GTK_ALIGN_END)
    folderMark.isShown = false
    let marked = Widget(of: gtk_overlay_get_type())
    marked.add(picture).add(damageMark).add(folderMark)
    root = .box(GTK_ORIENTATION_VERTICAL, spacing: 6, [marked, label])
    root.addClass("cell").aligned(GTK_ALIGN_CENTER)
    picture.addClass("picture")
    cell.child = root
    cell.picture.showsProgress = true
    cell.picture.outline = PixelColor(red: 128, green: 128, blue: 128, alpha: 70)
    cell.picture.onChange = { [weak self] in self?.contentChanged($0) }
    root.onClick(whenReleased: true) { [weak self] in self?.clicked($0) }
    root.onClick(button: 3) { [weak self] in self?.onMenu(($0.x, $0.y)) }
  }

  /// The widget in the cell.
  var widget: Widget { root }

  func bind(_ item: GalleryItem?, at position: Int) {
    (id, self.position, shown, isSettled) = (item?.id, position, nil, false)
    damageMark.isShown = false
    folderMark.isShown = item?.isFolder ?? false
    setOrigin(nil)
    guard let item, let cell else { return }
    label.text = item.name
    cell.picture.alternativeText = item.name
    describe(item.name, item.isFolder ? translated("Folder") : nil)
  }

  /// Says what is wrong with the picture, to the pointer and to screen readers.
  private func describe(_ name: String, _ problem: String? = nil) {
    let text = [name, problem].compactMap(\.self)
    root.set("tooltip-text", text.joined(separator: "\n"))
    cell?.picture.alternativeDescription = problem ?? ""
    // The list's own widget, which screen readers meet first, has no name of its own.
    root.parent?.setAccessibleName(text.joined(separator: ", "))
  }

  func reload(_ item: GalleryItem) {
    cell?.picture.load(item.request, placeholder: .keepCurrent, failure: .symbol("image-missing-symbolic"))
  }

  /// Gives the keyboard to the list's own widget around the cell.
  func focus() { root.parent?.focus() }

  /// True if any part of the cell is visible in the window.
  var isOnScreen: Bool { cell?.picture.slot.isVisible ?? false }

  private func contentChanged(_ content: ImageSlot.Content) {
    switch content {
    case .image(let response, _):
      (shown, isSettled) = (response, true)
      if response.container.damage != nil { describe(label.text, translated("Damaged")) }
    case .failure(let error, _):
      (shown, isSettled) = (nil, true)
      if !folderMark.isShown { describe(label.text, error.shortText) }
    case .empty, .placeholder, .preview: return
    }
    damageMark.isShown = shown?.container.damage != nil
    if folderMark.isShown { showFolder(isEmpty: shown.map { $0.container.info.width == 1 } ?? true) }
    setOrigin(shown?.origin)
    onContent()
  }

  /// Marks the first picture of a folder, or stands for a folder without one.
  private func showFolder(isEmpty: Bool) {
    folderMark.set("pixel-size", isEmpty ? 64 : 16)
    folderMark.setClass("large", isEmpty)
    folderMark.aligned(isEmpty ? GTK_ALIGN_CENTER : GTK_ALIGN_START, isEmpty ? GTK_ALIGN_CENTER : GTK_ALIGN_END)
  }

  /// The style sheet colours the cell by it if the window says so.
  private func setOrigin(_ new: ImageResponse.Origin?) {
    guard new != origin else { return }
    if let origin { root.removeClass("from-\(origin.rawValue)") }
    if let new { root.addClass("from-\(new.rawValue)") }
    origin = new
  }

  private func clicked(_ click: Widget.Click) {
    let selecting = GDK_CONTROL_MASK.rawValue | GDK_SHIFT_MASK.rawValue
    let (width, height) = root.size
    let isInside = click.x >= 0 && click.y >= 0 && click.x < Double(width) && click.y < Double(height)
    if id != nil, click.modifiers.rawValue & selecting == 0, isInside { onOpen(position) }
  }
}
