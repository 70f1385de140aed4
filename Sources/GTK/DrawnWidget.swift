import CGTK
import CVitrineGTK
import VitrineRuntime

/// A `GtkWidget` whose layout and drawing are done in Swift.
///
/// The widget owns this object.
///
/// All subclasses share one GObject class, whose functions look up the object and call it. That class has a subclass for
/// each role that screen readers know.
@MainActor
@safe
class DrawnWidget {
  /// The widget, which outlives this object.
  let widget: UnsafeMutablePointer<GtkWidget>

  /// The URL that a description of the interface has given the widget; empty for none.
  var builtURI = ""

  /// A widget that GObject is initialising.
  @safe
  struct Unfinished {
    let widget: UnsafeMutablePointer<GtkWidget>

    init(_ widget: UnsafeMutablePointer<GtkWidget>) { unsafe self.widget = widget }
  }

  /// The meaning of a widget to screen readers.
  enum Role: String, CaseIterable {
    /// An image.
    case image = "VitrinePicture"
    /// A part of another widget, which they pass over.
    case part = "VitrinePart"

    fileprivate var accessible: GtkAccessibleRole {
      switch self {
      case .image: GTK_ACCESSIBLE_ROLE_IMG
      case .part: GTK_ACCESSIBLE_ROLE_PRESENTATION
      }
    }
  }

  /// Makes a widget without a parent, with a floating reference, or takes over a widget that GtkBuilder is making.
  init(cssName: String, role: Role = .part, built: Unfinished? = nil) {
    unsafe widget = built?.widget ?? vitrine_gtk_new_widget(Self.types[role] ?? Self.type, cssName)
    // The widget releases the object when it is finalised.
    unsafe g_object_set_qdata_full(
      vitrine_gtk_object(widget),
      vitrine_gtk_quark(),
      Unmanaged.passRetained(self).toOpaque(),
      releaseObject,
    )
  }

  /// Returns the object of a widget; `nil` if the widget is not of this class.
  static func object(of widget: UnsafeMutablePointer<GtkWidget>?) -> DrawnWidget? {
    guard let widget = unsafe widget, let instance = unsafe UnsafeMutableRawPointer(widget) as UnsafeMutableRawPointer?,
      unsafe g_type_check_instance_is_a(instance.assumingMemoryBound(to: GTypeInstance.self), type) != 0,
      let object = unsafe g_object_get_qdata(vitrine_gtk_object(instance), vitrine_gtk_quark())
    else { return nil }
    // Set in `init`. Nothing else is ever stored under our quark in a widget of our class.
    return unsafe Unmanaged<DrawnWidget>.fromOpaque(object).takeUnretainedValue()
  }

  /// The number of device pixels in a point; a fraction where this GTK knows it.
  var scale: Double {
    guard let surfaceScale = unsafe SurfaceScale.function, let native = unsafe gtk_widget_get_native(widget),
      let surface = unsafe gtk_native_get_surface(native)
    else { return unsafe Double(gtk_widget_get_scale_factor(widget)) }
    return unsafe vitrine_gtk_call_scale(surfaceScale, surface)
  }

  /// True if the widget is in a window that is drawn in software.
  var isDrawnBySoftware: Bool {
    guard let native = unsafe gtk_widget_get_native(widget),
      let renderer = unsafe gtk_native_get_renderer(native)
    else { return false }
    return unsafe vitrine_gtk_is_software(renderer) != 0
  }

  /// True if the desktop wants motion.
  var wantsMotion: Bool { unsafe vitrine_gtk_animations_enabled(widget) != 0 }

  // MARK: For subclasses

  /// Returns the minimum and the natural length, in points.
  func measure(_ orientation: GtkOrientation) -> (minimum: Int, natural: Int) { (0, 0) }
  /// Lays out the children.
  func allocate(width: Int, height: Int) {}
  /// Draws the widget.
  ///
  /// Children are drawn only from here.
  func draw(into snapshot: OpaquePointer) {}
  /// Called when the widget becomes visible or invisible.
  func mappedDidChange(_ isMapped: Bool) {}
  /// Called when the widget is being destroyed: removes the children.
  func dispose() {}

  // MARK: The class

  private static let types: [Role: GType] = [.image: subclass(.image), .part: subclass(.part)]

  private static func subclass(_ role: Role) -> GType {
    var info = unsafe GTypeInfo()
    unsafe info.class_size = guint16(MemoryLayout<GtkWidgetClass>.size)
    unsafe info.instance_size = guint16(MemoryLayout<GtkWidget>.size)
    // The functions of C have no user data but this, which is the role's number.
    unsafe info.class_data = UnsafeRawPointer(bitPattern: UInt(role.accessible.rawValue))
    unsafe info.class_init = { type, role in
      guard let type = unsafe type else { return }
      let role = GtkAccessibleRole(rawValue: UInt32(UInt(bitPattern: role)))
      // GTK passes the class that it has just allocated at the size given above.
      unsafe gtk_widget_class_set_accessible_role(type.assumingMemoryBound(to: GtkWidgetClass.self), role)
    }
    return unsafe g_type_register_static(type, role.rawValue, &info, GTypeFlags(rawValue: 0))
  }

  static let type: GType = {
    var info = unsafe GTypeInfo()
    unsafe info.class_size = guint16(MemoryLayout<GtkWidgetClass>.size)
    unsafe info.instance_size = guint16(MemoryLayout<GtkWidget>.size)
    unsafe info.class_init = { type, _ in
      guard let type = unsafe type else { return }
      // GTK passes the class that it has just allocated at the size given above.
      unsafe fill(type.assumingMemoryBound(to: GtkWidgetClass.self))
    }
    return unsafe g_type_register_static(gtk_widget_get_type(), "VitrineDrawnWidget", &info, GTypeFlags(rawValue: 0))
  }()

  fileprivate nonisolated static func fill(_ type: UnsafeMutablePointer<GtkWidgetClass>) {
    unsafe type.pointee.measure = { widget, orientation, _, minimum, natural, minimumBaseline, naturalBaseline in
      var lengths = (minimum: 0, natural: 0)
      unsafe withObject(widget) { lengths = $0.measure(orientation) }
      unsafe minimum?.pointee = gint(lengths.minimum)
      unsafe natural?.pointee = gint(lengths.natural)
      unsafe minimumBaseline?.pointee = -1
      unsafe naturalBaseline?.pointee = -1
    }
    unsafe type.pointee.size_allocate = { widget, width, height, _ in
      unsafe withObject(widget) { $0.allocate(width: Int(width), height: Int(height)) }
    }
    unsafe type.pointee.snapshot = { widget, snapshot in
      nonisolated(unsafe) let snapshot = unsafe snapshot
      guard unsafe snapshot != nil else { return }
      unsafe withObject(widget) { object in
        if let snapshot = unsafe snapshot { unsafe object.draw(into: snapshot) }
      }
    }
    unsafe type.pointee.map = { widget in
      unsafe vitrine_gtk_parent_class().pointee.map(widget)
      unsafe withObject(widget) { $0.mappedDidChange(true) }
    }
    unsafe type.pointee.unmap = { widget in
      unsafe withObject(widget) { $0.mappedDidChange(false) }
      unsafe vitrine_gtk_parent_class().pointee.unmap(widget)
    }
    unsafe UnsafeMutableRawPointer(type).assumingMemoryBound(to: GObjectClass.self).pointee.dispose = { object in
      guard let object = unsafe object else { return }
      unsafe withObject(UnsafeMutableRawPointer(object).assumingMemoryBound(to: GtkWidget.self)) { $0.dispose() }
      unsafe UnsafeMutableRawPointer(vitrine_gtk_parent_class()).assumingMemoryBound(to: GObjectClass.self)
        .pointee.dispose(object)
    }
  }
}

/// Calls `body` with the object of the widget in GTK's callback, on the main thread as always.
func withObject(
  _ widget: UnsafeMutablePointer<GtkWidget>?,
  _ body: @MainActor (DrawnWidget) -> Void,
) {
  // Used before this returns, on this thread.
  nonisolated(unsafe) let widget = unsafe widget
  withoutActuallyEscaping(body) { body in
    MainActor.assumeIsolated {
      guard let object = unsafe DrawnWidget.object(of: widget) else { return }
      MainThreadWork.measure { body(object) }
    }
  }
}

/// `gdk_surface_get_scale` of the GTK that runs; since 4.12 scales may be fractions.
@MainActor
private enum SurfaceScale {
  static let function = unsafe vitrine_gtk_surface_scale()
}
