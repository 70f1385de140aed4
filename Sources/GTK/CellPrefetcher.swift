import CGTK
import CVitrineGTK
import Vitrine

/// Decides which cells of a list or grid load, and loads ahead of them, as the scroll goes.
///
/// - Cells that rush by load nothing: they would be gone before their images came, and keep those from coming that will
///   be looked at. They show what is in memory.
/// - What is loaded ahead begins where the scroll will come to rest.
@MainActor
@safe
final class CellPrefetcher {
  /// The most requests that are made without looking at the time.
  private static let batch = 8
  private let prefetcher: ImagePrefetcher?
  private let count: Int
  private let request: RemotePictureFactory.RequestOfItem
  /// The cells that can be seen.
  private var visible: [ObjectIdentifier: RemotePictureCell] = [:]
  /// The requests that are prefetched, by the positions of their items.
  private var ahead: [Int: ImageRequest] = [:]
  private(set) var motion = ScrollMotion()
  private var length = 0.0
  private var isPosted = false
  /// The view whose frames are watched; not retained, and `nil` once it is gone.
  private var watched: UnsafeMutablePointer<GtkWidget>?
  /// The time of the frame that a widget shows next.
  ///
  /// Defaults to the time of its frame clock.
  var frameTime: @MainActor (UnsafeMutablePointer<GtkWidget>) -> Duration = { widget in
    let clock = unsafe gtk_widget_get_frame_clock(widget)
    return .microseconds(unsafe clock.map { unsafe gdk_frame_clock_get_frame_time($0) } ?? 0)
  }

  /// `prefetcher` is `nil` if nothing is loaded ahead.
  init(_ prefetcher: ImagePrefetcher?, count: Int, _ request: @escaping RemotePictureFactory.RequestOfItem) {
    (self.prefetcher, self.count) = (prefetcher, count)
    unsafe self.request = request
  }

  /// Notes that a bound cell can be seen, or no longer; called before its image is looked for.
  func cell(_ cell: RemotePictureCell, isVisible: Bool) {
    let isVisible = unsafe isVisible && cell.item != nil
    guard isVisible || visible[ObjectIdentifier(cell)] != nil else { return }
    visible[ObjectIdentifier(cell)] = isVisible ? cell : nil
    if isVisible { cell.picture.view.slot.defersLoads = motion.isTooFast }
    post()
  }

  private func post() {
    guard !isPosted else { return }
    isPosted = true
    // Once for all cells of a frame, and not before the visible ones have begun to load.
    FrameMailbox.gtk.post { [weak self] in self?.update() }
  }

  // MARK: The scroll

  /// Follows the frames of a view while it scrolls.
  private func watch(_ view: UnsafeMutablePointer<GtkWidget>) {
    unsafe observe(view)
    guard motion.isMoving, unsafe watched != view else { return }
    unsafe watched = view
    // The tick ends with the view or with the scroll, and releases the box.
    unsafe gtk_widget_add_tick_callback(
      view,
      { view, _, box in
        guard let view = unsafe view, let box = unsafe box else { return 0 }
        nonisolated(unsafe) let (widget, target) = unsafe (view, box)
        return MainActor.assumeIsolated {
          let box = unsafe Unmanaged<WeakPrefetcher>.fromOpaque(target).takeUnretainedValue()
          return MainThreadWork.measure { unsafe box.target?.frame(of: widget) ?? false } ? 1 : 0
        }
      },
      Unmanaged.passRetained(WeakPrefetcher(self)).toOpaque(),
      { box in
        guard let box = unsafe box else { return }
        nonisolated(unsafe) let target = unsafe box
        MainActor.assumeIsolated {
          let box = unsafe Unmanaged<WeakPrefetcher>.fromOpaque(target).takeRetainedValue()
          unsafe box.target?.watched = nil
        }
      },
    )
  }

  /// Notes a frame; returns `false` when the scroll has come to rest.
  private func frame(of view: UnsafeMutablePointer<GtkWidget>) -> Bool {
    unsafe observe(view)
    if !motion.isTooFast {
      // The display may call back.
      for cell in Array(visible.values) { cell.picture.view.slot.defersLoads = false }
    }
    post()
    return motion.isMoving
  }

  private func observe(_ view: UnsafeMutablePointer<GtkWidget>) {
    // The axis along which there is most to scroll.
    var (place, length, page) = (0.0, 0.0, 0.0)
    func look(_ adjustment: UnsafeMutablePointer<GtkAdjustment>?) {
      guard let adjustment = unsafe adjustment else { return }
      let (upper, size) = unsafe (gtk_adjustment_get_upper(adjustment), gtk_adjustment_get_page_size(adjustment))
      guard page == 0 || upper - size > length - page else { return }
      (place, length, page) = unsafe (gtk_adjustment_get_value(adjustment), upper, size)
    }
    unsafe look(gtk_scrollable_get_vadjustment(OpaquePointer(view)))
    unsafe look(gtk_scrollable_get_hadjustment(OpaquePointer(view)))
    self.length = length
    motion.note(place, of: length, page: page, at: unsafe frameTime(view))
  }

  // MARK: Ahead

  /// Follows the scroll: begins what comes next, stops what has been left behind.
  func update() {
    isPosted = false
    guard let any = visible.values.first else { return stopAll() }
    guard let (view, model) = unsafe Self.list(around: any.picture.widget) else { return }
    unsafe watch(view)
    guard let prefetcher else { return }
    let positions = visible.values.compactMap { cell in
      // The list item owns the cell, so it is alive.
      unsafe cell.listItem.map { unsafe Int(gtk_list_item_get_position($0)) }
    }
    guard let first = positions.min(), let last = positions.max() else { return stopAll() }
    let total = unsafe Int(g_list_model_get_n_items(model))
    let wanted = wanted(first...last, of: total)
    let left = ahead.filter { !isKept($0.key, first...last, wanted) }
    if !left.isEmpty { prefetcher.stop(Array(left.values)) }
    ahead = ahead.filter { isKept($0.key, first...last, wanted) && !(first...last).contains($0.key) }
    var begun: [ImageRequest] = []
    for position in motion.isForward ? Array(wanted) : wanted.reversed() where ahead[position] == nil {
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

  /// The list has gone, or is hidden.
  private func stopAll() {
    if !ahead.isEmpty { prefetcher?.stop(Array(ahead.values)) }
    ahead = [:]
  }

  /// Returns the positions of the items to load ahead: from the edge of the screen on, or from where a fast scroll will
  /// come to rest.
  private func wanted(_ shown: ClosedRange<Int>, of total: Int) -> Range<Int> {
    // Rows are about equally high.
    let shift = length > 0 ? Int(motion.rest / length * Double(total)) : 0
    if motion.isForward {
      let start = shift > shown.count ? shown.lowerBound + shift : shown.upperBound + 1
      let first = min(start, max(shown.upperBound + 1, total - shown.count))
      return first..<max(first, min(total, first + count))
    }
    let start = -shift > shown.count ? shown.upperBound + shift : shown.lowerBound
    let end = max(start, min(shown.lowerBound, shown.count))
    return max(0, end - count)..<end
  }

  /// Returns true unless an item was left behind, or lies so far off that the scroll must have changed its mind.
  private func isKept(_ position: Int, _ shown: ClosedRange<Int>, _ wanted: Range<Int>) -> Bool {
    if shown.contains(position) || wanted.contains(position) { return true }
    guard motion.isForward ? position > shown.upperBound : position < shown.lowerBound else { return false }
    return (wanted.lowerBound - shown.count..<wanted.upperBound + shown.count).contains(position)
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
      // Only properties of its class are read; a column view has a list view inside.
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

  /// Returns true if the list or grid around a widget is on the screen, whether or not the widget is.
  static func isListMapped(around widget: UnsafeMutablePointer<GtkWidget>) -> Bool {
    unsafe list(around: widget).map { unsafe gtk_widget_get_mapped($0.view) != 0 } ?? false
  }

  /// The target of a tick, which may be gone when that comes.
  private final class WeakPrefetcher {
    weak var target: CellPrefetcher?

    init(_ target: CellPrefetcher) { self.target = target }
  }
}
