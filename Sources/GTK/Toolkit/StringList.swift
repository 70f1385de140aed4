import CGTK

/// A list of texts, the model of a list or a grid, and the texts that are selected.
///
/// ```swift
/// let list = StringList(["one", "two"], selection: .single)
/// list.onSelect { print($0) }
/// scrolled.add(Widget(of: gtk_list_view_get_type()).show(list, factory))
/// ```
@MainActor
@safe
public final class StringList: GTKObject {
  /// The number of texts that can be selected at once.
  public enum Selection: Sendable {
    /// None.
    case none
    /// One, which is the first text until the user selects another one.
    case single
    /// Any number.
    case multiple
  }

  /// The texts, of which this object itself is the selection.
  private let strings: GTKObject

  /// Makes a list.
  public init(_ contents: [String] = [], selection: Selection = .none) {
    // Constructors of GObject never return NULL. The selection takes a reference of its own.
    strings = unsafe GTKObject(gtk_string_list_new(nil), isOwned: true)
    let texts = unsafe OpaquePointer(g_object_ref(strings.object))
    let model: OpaquePointer =
      switch selection {
      case .none: unsafe gtk_no_selection_new(texts)
      case .single: unsafe gtk_single_selection_new(texts)
      case .multiple: unsafe gtk_multi_selection_new(texts)
      }
    unsafe super.init(model, isOwned: true)
    replace(0..<0, with: contents)
  }

  /// The number of texts.
  public var count: Int { unsafe Int(g_list_model_get_n_items(OpaquePointer(strings.object))) }

  /// Replaces the texts at some positions.
  ///
  /// The program stops if there are no such positions. Complexity: O(texts + positions), whatever else is in the list.
  public func replace(_ positions: Range<Int>, with texts: [String]) {
    precondition(positions.lowerBound >= 0 && positions.upperBound <= count, "the list has \(count) texts")
    var copies: [UnsafePointer<CChar>?] = unsafe texts.map { unsafe UnsafePointer(strdup($0)) }
    unsafe copies.append(nil)
    // The list copies the texts.
    let list = unsafe OpaquePointer(strings.object)
    unsafe gtk_string_list_splice(list, guint(positions.lowerBound), guint(positions.count), &copies)
    unsafe copies.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) }
  }

  /// The positions of the selected texts, in order.
  ///
  /// Setting it ignores positions beyond the list, and a selection that its kind does not allow.
  public var selected: [Int] {
    get { unsafe Self.selected(in: model) }
    set {
      let positions = newValue.filter { (0..<count).contains($0) }
      // The one way of a selection of one.
      if positions.count == 1 {
        unsafe gtk_selection_model_select_item(model, guint(positions[0]), 1)
        return
      }
      let wanted = unsafe gtk_bitset_new_empty()
      let all = unsafe gtk_bitset_new_range(0, guint(count))
      defer {
        unsafe gtk_bitset_unref(wanted)
        unsafe gtk_bitset_unref(all)
      }
      for position in positions { unsafe gtk_bitset_add(wanted, guint(position)) }
      unsafe gtk_selection_model_set_selection(model, wanted, all)
    }
  }

  /// Calls a closure with the positions of the selected texts, now and whenever others are selected.
  public func onSelect(_ body: @escaping @MainActor ([Int]) -> Void) {
    body(selected)
    // The model is alive while it emits.
    let model = unsafe model
    on("selection-changed") { unsafe body(Self.selected(in: model)) }
  }

  private static func selected(in model: OpaquePointer) -> [Int] {
    let bits = unsafe gtk_selection_model_get_selection(model)
    defer { unsafe gtk_bitset_unref(bits) }
    return unsafe (0..<gtk_bitset_get_size(bits)).map { unsafe Int(gtk_bitset_get_nth(bits, guint($0))) }
  }

  private var model: OpaquePointer { unsafe OpaquePointer(object) }
}
