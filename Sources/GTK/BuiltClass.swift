import CGTK
import CVitrineGTK
import Vitrine

/// A class of widgets that GtkBuilder makes, with properties.
///
/// Its instances get their Swift objects while GObject initialises them.
@MainActor
@safe
final class BuiltClass {
  /// The class, which is registered.
  private(set) var type: GType = 0
  private let cssName: String
  private let properties: [BuiltProperty]
  private let makeObject: (DrawnWidget.Unfinished) -> Void

  /// All classes; the data of a class in C is its index here, counted from 1.
  private static var all: [BuiltClass] = []

  /// Registers a class.
  ///
  /// - Parameters:
  ///   - name: The name in descriptions of interfaces.
  ///   - cssName: The name in style sheets.
  ///   - properties: The properties.
  ///   - makeObject: Makes the object of a widget, which retains it.
  init(
    _ name: String,
    cssName: String,
    _ properties: [BuiltProperty],
    _ makeObject: @escaping (DrawnWidget.Unfinished) -> Void,
  ) {
    (self.cssName, self.properties, self.makeObject) = (cssName, properties, makeObject)
    Self.all.append(self)
    var info = unsafe GTypeInfo()
    unsafe info.class_size = guint16(MemoryLayout<GtkWidgetClass>.size)
    unsafe info.instance_size = guint16(MemoryLayout<GtkWidget>.size)
    // The functions of C have no user data but this.
    unsafe info.class_data = UnsafeRawPointer(bitPattern: Self.all.count)
    unsafe info.class_init = { type, number in
      // GTK passes the class that it has just allocated at the size given above, on the main thread.
      nonisolated(unsafe) let type = unsafe type?.assumingMemoryBound(to: GtkWidgetClass.self)
      let index = Int(bitPattern: number) - 1
      MainActor.assumeIsolated {
        if let type = unsafe type, BuiltClass.all.indices.contains(index) { unsafe BuiltClass.all[index].fill(type) }
      }
    }
    unsafe info.instance_init = { instance, _ in
      // GTK passes the widget that it has just allocated at the size given above, on the main thread.
      nonisolated(unsafe) let widget = unsafe UnsafeMutableRawPointer(instance)?.assumingMemoryBound(to: GtkWidget.self)
      MainActor.assumeIsolated {
        guard let widget = unsafe widget else { return }
        let type = unsafe vitrine_gtk_type(widget)
        unsafe BuiltClass.all.first { $0.type == type }?.makeObject(DrawnWidget.Unfinished(widget))
      }
    }
    type = unsafe g_type_register_static(DrawnWidget.type, name, &info, GTypeFlags(rawValue: 0))
  }

  private func fill(_ type: UnsafeMutablePointer<GtkWidgetClass>) {
    unsafe gtk_widget_class_set_accessible_role(type, GTK_ACCESSIBLE_ROLE_IMG)
    unsafe gtk_widget_class_set_css_name(type, cssName)
    // A widget's class begins with an object's.
    let objects = unsafe UnsafeMutableRawPointer(type).assumingMemoryBound(to: GObjectClass.self)
    unsafe objects.pointee.set_property = { object, number, value, specification in
      nonisolated(unsafe) let value = unsafe value
      // Alive for the call.
      let owner = unsafe specification?.pointee.owner_type
      unsafe withProperty(number, of: owner, object) { property, view in
        if let value = unsafe value { unsafe property.set(view, value) }
      }
    }
    unsafe objects.pointee.get_property = { object, number, value, specification in
      nonisolated(unsafe) let value = unsafe value
      // Alive for the call.
      let owner = unsafe specification?.pointee.owner_type
      unsafe withProperty(number, of: owner, object) { property, view in
        if let value = unsafe value { unsafe property.get(view, value) }
      }
    }
    // GObject numbers properties from 1 on.
    for (index, property) in properties.enumerated() {
      unsafe g_object_class_install_property(objects, guint(index + 1), property.makeSpecification())
    }
  }

  fileprivate static func property(_ number: guint, of type: GType?) -> BuiltProperty? {
    let properties = all.first { $0.type == type }?.properties ?? []
    let index = Int(number) - 1
    return properties.indices.contains(index) ? properties[index] : nil
  }
}

/// A property of a class of widgets.
@MainActor
@safe
struct BuiltProperty {
  /// Makes the description that GObject keeps.
  fileprivate let makeSpecification: () -> UnsafeMutablePointer<GParamSpec>?
  fileprivate let set: (DrawnWidget, UnsafePointer<GValue>) -> Void
  fileprivate let get: (DrawnWidget, UnsafeMutablePointer<GValue>) -> Void

  private static let flags = GParamFlags(rawValue: G_PARAM_READABLE.rawValue | G_PARAM_WRITABLE.rawValue)

  init<View: DrawnWidget>(_ name: String, _ path: ReferenceWritableKeyPath<View, String>) {
    unsafe self.init(path, none: "") { unsafe g_param_spec_string(name, nil, nil, nil, Self.flags) }
  }

  init<View: DrawnWidget>(_ name: String, _ path: ReferenceWritableKeyPath<View, Bool>) {
    unsafe self.init(path, none: false) { unsafe g_param_spec_boolean(name, nil, nil, 0, Self.flags) }
  }

  private init<View: DrawnWidget, Value: SignalValue>(
    _ path: ReferenceWritableKeyPath<View, Value>,
    none: Value,
    _ makeSpecification: @escaping () -> UnsafeMutablePointer<GParamSpec>?,
  ) {
    unsafe self.makeSpecification = makeSpecification
    unsafe set = { view, value in
      // GObject has compared the type of the value with the description's.
      if let view = view as? View { unsafe view[keyPath: path] = Value(signalValue: value) ?? none }
    }
    unsafe get = { view, value in if let view = view as? View { unsafe view[keyPath: path].store(in: value) } }
  }
}

/// Calls a closure with a property and the view of a widget, on the main thread as always.
private func withProperty(
  _ number: guint,
  of type: GType?,
  _ object: UnsafeMutablePointer<GObject>?,
  _ body: @MainActor (BuiltProperty, DrawnWidget) -> Void,
) {
  // The object is a widget of one of the classes.
  let widget = unsafe UnsafeMutableRawPointer(object)?.assumingMemoryBound(to: GtkWidget.self)
  unsafe withObject(widget) { view in
    if let property = BuiltClass.property(number, of: type) { body(property, view) }
  }
}
