import CGTK
import CVitrineGTK
import XCTest

@testable import VitrineGTK

/// A reference of a test's own to an object.
@MainActor
@safe
final class Owned {
  let object: UnsafeMutableRawPointer

  init(_ object: (some ObjectPointer)?) {
    guard let object else { preconditionFailure("there is no object") }
    unsafe self.object = object.objectAddress
    // A widget begins with a floating reference, and a window belongs to GTK. Others are ours already.
    if unsafe isInstance(self.object, of: gtk_widget_get_type()) { unsafe g_object_ref_sink(self.object) }
  }

  var widget: UnsafeMutablePointer<GtkWidget> { unsafe cast(object) }

  isolated deinit { unsafe g_object_unref(object) }
}

/// Emits a signal as its sender does, and returns its result.
@MainActor
@discardableResult
func emit(_ object: (some ObjectPointer)?, _ signal: String, _ arguments: any SignalValue...) -> Bool? {
  guard let object else {
    XCTFail("there is no object")
    return nil
  }
  var query = unsafe GSignalQuery()
  let type = unsafe vitrine_gtk_type(object.objectAddress)
  unsafe g_signal_query(g_signal_lookup(signal, type), &query)
  guard unsafe Int(query.n_params) == arguments.count else {
    XCTFail("\(signal) has \(unsafe query.n_params) arguments")
    return nil
  }
  var values = [GValue](repeating: GValue(), count: arguments.count + 1)
  // The array outlives the emission, which copies nothing.
  return unsafe values.withUnsafeMutableBufferPointer { values in
    guard let first = values.baseAddress else { return nil }
    unsafe g_value_init(first, type)
    unsafe g_value_set_instance(first, object.objectAddress)
    for (index, argument) in arguments.enumerated() {
      unsafe g_value_init(first + index + 1, query.param_types[index] & ~1)
      unsafe argument.store(in: first + index + 1)
    }
    defer { for index in values.indices { unsafe g_value_unset(first + index) } }
    let returned = unsafe query.return_type & ~1
    guard returned != vitrine_gtk_no_type() else {
      unsafe g_signal_emitv(first, query.signal_id, 0, nil)
      return nil
    }
    var result = GValue()
    unsafe g_value_init(&result, returned)
    defer { unsafe g_value_unset(&result) }
    unsafe g_signal_emitv(first, query.signal_id, 0, &result)
    return unsafe Bool.accepts(returned) ? Bool(signalValue: &result) : nil
  }
}
