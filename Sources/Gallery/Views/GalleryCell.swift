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
  /// The position of the picture.
  private(set) var position = 0
  private var origin: ImageResponse.Origin?

  init(_ cell: RemotePictureCell, size: Int) {
    self.cell = cell
    let picture = Widget(cell.picture)
    label = .label("", "name")
    label.set("ellipsize", PANGO_ELLIPSIZE_MIDDLE)
    label.set("max-width-chars", 1)
    label.minimumSize(width: size)
    damageMark = Widget(of: gtk_image_get_type())
    damageMark.set("icon-name", "dialog-warning-symbolic")
    damageMark.addClass("damage").aligned(GTK_ALIGN_END, GTK_ALIGN_END)
    damageMark.set("tooltip-text", translated("The file is damaged; a part of the picture is missing"))
    damageMark.setAccessibleName(translated("Damaged"))
    damageMark.isShown = false
    let marked = Widget(of: gtk_overlay_get_type())
    marked.add(picture).add(damageMark)
    root = .box(GTK_ORIENTATION_VERTICAL, spacing: 6, [marked, label])
    root.addClass("cell").aligned(GTK_ALIGN_CENTER)
    picture.addClass("picture")
    cell.child = root
    cell.picture.onChange = { [weak self] in self?.contentChanged($0) }
    root.onClick(whenReleased: true) { [weak self] in self?.clicked($0) }
  }

  func bind(_ item: GalleryItem?, at position: Int) {
    (id, self.position, shown, isSettled) = (item?.id, position, nil, false)
    damageMark.isShown = false
    setOrigin(nil)
    guard let item, let cell else { return }
    label.text = item.name
    cell.picture.alternativeText = item.name
    // The list's own widget, which screen readers meet first, has no name of its own.
    root.parent?.setAccessibleName(item.name)
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
    case .image(let response, _): (shown, isSettled) = (response, true)
    case .failure: (shown, isSettled) = (nil, true)
    case .empty, .placeholder, .preview: return
    }
    damageMark.isShown = shown?.container.damage != nil
    setOrigin(shown?.origin)
    onContent()
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
