public import CGTK
import CVitrineGTK

extension UnsafeMutablePointer where Pointee == GtkWidget {
  /// Puts the widget into a container, after what is there; see ``append(_:to:)``.
  @MainActor
  @discardableResult
  public func append(to parent: (some ObjectPointer)?) -> Self {
    unsafe VitrineGTK.append(self, to: parent)
    return unsafe self
  }
}

extension Optional where Wrapped == UnsafeMutablePointer<GtkWidget> {
  /// Puts the widget into a container, after what is there; see ``append(_:to:)``.
  @MainActor
  @discardableResult
  public func append(to parent: (some ObjectPointer)?) -> Self {
    unsafe VitrineGTK.append(self, to: parent)
    return self
  }
}

/// Puts a widget into a container, after what is there.
///
/// The container is one of several children (`GtkBox`, `GtkFlowBox`, `GtkListBox`, `GtkHeaderBar`, `GtkActionBar`,
/// `GtkStack`, `GtkNotebook`), a `GtkPaned` with a free side, a `GtkOverlay`, or one with a property `child`:
/// `GtkWindow`, `GtkScrolledWindow`, `GtkButton`, `GtkFrame` and many others. Such a child replaces an earlier one.
/// A label does not become a container by it: in debug builds the program stops, in release builds nothing happens.
@MainActor
public func append(_ widget: UnsafeMutablePointer<GtkWidget>?, to parent: (some ObjectPointer)?) {
  guard let widget = unsafe widget, let parent else { return assertionFailure("there is no widget or no container") }
  let isPut = unsafe put(widget, into: parent.objectAddress)
  assert(isPut, unsafe "a \(className(of: parent.objectAddress)) cannot hold a child, or has no room for one")
}

/// Puts a widget into a container; returns `false` if the container takes none.
@MainActor
func put(_ widget: UnsafeMutablePointer<GtkWidget>, into parent: UnsafeMutableRawPointer) -> Bool {
  // Each container is converted to its own class; all take a reference to the child.
  let opaque = OpaquePointer(parent)
  func isA(_ type: GType) -> Bool { unsafe isInstance(parent, of: type) }
  if isA(gtk_box_get_type()) {
    unsafe gtk_box_append(vitrine_gtk_box(parent), widget)
  } else if isA(gtk_list_box_get_type()) {
    unsafe gtk_list_box_append(opaque, widget)
  } else if isA(gtk_flow_box_get_type()) {
    unsafe gtk_flow_box_append(opaque, widget)
  } else if isA(gtk_header_bar_get_type()) {
    unsafe gtk_header_bar_pack_start(opaque, widget)
  } else if isA(gtk_action_bar_get_type()) {
    unsafe gtk_action_bar_pack_start(opaque, widget)
  } else if isA(gtk_stack_get_type()) {
    unsafe gtk_stack_add_child(opaque, widget)
  } else if isA(gtk_notebook_get_type()) {
    unsafe gtk_notebook_append_page(opaque, widget, nil)
  } else if isA(gtk_overlay_get_type()), unsafe gtk_overlay_get_child(opaque) != nil {
    unsafe gtk_overlay_add_overlay(opaque, widget)
  } else if isA(gtk_paned_get_type()) {
    if unsafe gtk_paned_get_start_child(opaque) == nil {
      unsafe gtk_paned_set_start_child(opaque, widget)
    } else if unsafe gtk_paned_get_end_child(opaque) == nil {
      unsafe gtk_paned_set_end_child(opaque, widget)
    } else {
      return false
    }
  } else {
    return unsafe vitrine_gtk_set_child(parent, widget) != 0
  }
  return true
}
