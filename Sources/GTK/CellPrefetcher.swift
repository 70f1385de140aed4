import CGTK
import CVitrineGTK
import Vitrine

/// Loads the images of items beyond the edge of a list or grid, in the direction in which it is scrolled.
@MainActor
@safe
final class CellPrefetcher {
  /// The most requests that are made without looking at the time.
  private static let batch = 8
  private let prefetcher: ImagePrefetcher
  private let count: Int
  private let request: RemotePictureFactory.RequestOfItem
  /// The cells that can be seen.
  private var visible: [ObjectIdentifier: RemotePictureCell] = [:]
  /// The requests that are prefetched, by the positions of their items.
  private var ahead: [Int: ImageRequest] = [:]
  private var isForward = true
  /// The place that was farthest in the direction of the scroll, in points.
  private var farthest: Double?
  private var length = 0.0
  private var isPosted = false

  init(_ prefetcher: ImagePrefetcher, count: Int, _ request: @escaping RemotePictureFactory.RequestOfItem) {
    (self.prefetcher, self.count) = (prefetcher, count)
    unsafe self.request = request
  }

  /// Notes that a bound cell can be seen, or no longer.
  func cell(_ cell: RemotePictureCell, isVisible: Bool) {
    let isVisible = unsafe isVisible && cell.item != nil
    guard isVisible || visible[ObjectIdentifier(cell)] != nil else { return }
    visible[ObjectIdentifier(cell)] = isVisible ? cell : nil
    post()
  }

  private func post() {
    guard !isPosted else { return }
    isPosted = true
    // Once for all cells of a frame, and not before the visible ones have begun to load.
    FrameMailbox.gtk.post { [weak self] in self?.update() }
  }

  /// Follows the scroll: begins what comes next, stops what has been left behind.
  func update() {
    isPosted = false
    let positions = visible.values.compactMap { cell in
      // The list item owns the cell, so it is alive.
      unsafe cell.listItem.map { unsafe Int(gtk_list_item_get_position($0)) }
    }
    guard let first = positions.min(), let last = positions.max(), let any = visible.values.first else {
      // The list has gone, or is hidden.
      if !ahead.isEmpty { prefetcher.stop(Array(ahead.values)) }
      return ahead = [:]
    }
    guard let (view, model) = unsafe Self.list(around: any.picture.widget) else { return }
    unsafe follow(view)
    let total = unsafe Int(g_list_model_get_n_items(model))
    let wanted = isForward ? last + 1..<max(last + 1, min(total, last + 1 + count)) : max(0, first - count)..<first
    let left = ahead.filter { !wanted.contains($0.key) && !(first...last).contains($0.key) }
    if !left.isEmpty { prefetcher.stop(Array(left.values)) }
    ahead = ahead.filter { wanted.contains($0.key) }
    var begun: [ImageRequest] = []
    for position in isForward ? Array(wanted) : wanted.reversed() where ahead[position] == nil {
      // A jump wants all of them at once: the rest follows as far as the frame has time.
      if begun.count == Self.batch {
        post()
        break
      }
      guard let request = unsafe request(at: position, of: model),
        let sized = any.picture.view.slot.sized(request)
      else { continue }
      ahead[position] = sized
      begun.append(sized)
    }
    if !begun.isEmpty { prefetcher.start(begun) }
  }

  /// Notes the direction of the scroll, which turns when a quarter of a page has been scrolled back.
  ///
  /// Positions do not tell it: a list shows wrong rows for a frame while it learns how high they are, and moves a little
  /// by itself.
  private func follow(_ view: UnsafeMutablePointer<GtkWidget>) {
    var (place, length, page) = (0.0, 0.0, 0.0)
    func add(_ adjustment: UnsafeMutablePointer<GtkAdjustment>?) {
      guard let adjustment = unsafe adjustment else { return }
      unsafe place += gtk_adjustment_get_value(adjustment)
      unsafe length += gtk_adjustment_get_upper(adjustment)
      unsafe page = max(page, gtk_adjustment_get_page_size(adjustment))
    }
    unsafe add(gtk_scrollable_get_vadjustment(OpaquePointer(view)))
    unsafe add(gtk_scrollable_get_hadjustment(OpaquePointer(view)))
    defer { self.length = length }
    guard let farthest, length == self.length else { return self.farthest = place }
    if isForward ? place <= farthest - page / 4 : place >= farthest + page / 4 {
      isForward.toggle()
      self.farthest = place
    } else {
      self.farthest = isForward ? max(farthest, place) : min(farthest, place)
    }
  }

  private func request(at position: Int, of model: OpaquePointer) -> ImageRequest? {
    guard let item = unsafe g_list_model_get_item(model, guint(position)) else { return nil }
    // The model gave a reference.
    defer { unsafe g_object_unref(item) }
    return unsafe vitrine_gtk_object(item).flatMap { unsafe request($0) }
  }

  /// Returns the list or grid around a widget, and its model.
  private static func list(
    around widget: UnsafeMutablePointer<GtkWidget>
  ) -> (view: UnsafeMutablePointer<GtkWidget>, model: OpaquePointer)? {
    var parent: UnsafeMutablePointer<GtkWidget>? = unsafe widget
    while let view = unsafe parent {
      let instance = unsafe UnsafeMutableRawPointer(view).assumingMemoryBound(to: GTypeInstance.self)
      // Each is asked only for what its class has; a column view has a list view inside.
      var model: OpaquePointer?
      if unsafe g_type_check_instance_is_a(instance, gtk_grid_view_get_type()) != 0 {
        unsafe model = gtk_grid_view_get_model(OpaquePointer(view))
      } else if unsafe g_type_check_instance_is_a(instance, gtk_list_view_get_type()) != 0 {
        unsafe model = gtk_list_view_get_model(OpaquePointer(view))
      }
      if let model = unsafe model { return unsafe (view, model) }
      unsafe parent = gtk_widget_get_parent(view)
    }
    return nil
  }
}
