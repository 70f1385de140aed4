import CGTK
import Vitrine
import VitrineTestSupport
import VitrineRuntime
import XCTest

@testable import VitrineGTK

/// Signals, conversions, containers and programs.
final class ToolkitTests: WidgetTestCase {
  private final class Token {}

  // MARK: Signals

  func testAClosureIsCalledAtEachEmissionUntilItIsDisconnected() {
    MainActor.assumeIsolated {
      let button = unsafe Owned(gtk_button_new())
      var count = 0
      let connection = unsafe connect(button.widget, "clicked") { count += 1 }
      unsafe emit(button.widget, "clicked")
      unsafe emit(button.widget, "clicked")
      XCTAssertEqual(count, 2)
      XCTAssertTrue(connection.isConnected)
      connection.disconnect()
      connection.disconnect()
      unsafe emit(button.widget, "clicked")
      XCTAssertEqual(count, 2)
      XCTAssertFalse(connection.isConnected)
    }
  }

  func testAClosureHasTheArgumentsThatItNames() {
    MainActor.assumeIsolated {
      let keys = unsafe Owned(gtk_event_controller_key_new())
      var pressed: [(UInt32, Int, GdkModifierType)] = []
      unsafe connect(keys.object, "key-released") { (key: UInt32, code: Int, state: GdkModifierType) in
        pressed.append((key, code, state))
      }
      var codes: [Int] = []
      unsafe connect(keys.object, "key-released") { (key: Int) in codes.append(key) }
      unsafe emit(keys.object, "key-released", UInt32(GDK_KEY_Escape), UInt32(9), GDK_CONTROL_MASK)
      XCTAssertEqual(pressed.count, 1)
      XCTAssertTrue(pressed[0] == (UInt32(GDK_KEY_Escape), 9, GDK_CONTROL_MASK))
      XCTAssertEqual(codes, [Int(GDK_KEY_Escape)])
    }
  }

  func testArgumentsAreTextNumbersObjectsAndNothing() {
    MainActor.assumeIsolated {
      let label = unsafe Owned(gtk_label_new(nil))
      var link: String?
      unsafe connect(label.widget, "activate-link") { (url: String) in
        link = url
        return true
      }
      XCTAssertEqual(unsafe emit(label.widget, "activate-link", "https://example.org/ü"), true)
      XCTAssertEqual(link, "https://example.org/ü")

      let gesture = unsafe Owned(gtk_gesture_drag_new())
      var place: [Double] = []
      unsafe connect(gesture.object, "drag-begin") { (x: Double, y: Double) in place = [x, y] }
      unsafe emit(gesture.object, "drag-begin", 1.5, -2.0)
      XCTAssertEqual(place, [1.5, -2])

      let list = unsafe Owned(gtk_list_box_new())
      var rows: [UnsafeMutablePointer<GtkListBoxRow>?] = unsafe []
      unsafe connect(list.widget, "row-selected") { (row: UnsafeMutablePointer<GtkListBoxRow>?) in
        unsafe rows.append(row)
      }
      unsafe gtk_label_new("row").append(to: list.widget)
      let row = unsafe gtk_list_box_get_row_at_index(cast(list.widget), 0)
      unsafe gtk_list_box_select_row(cast(list.widget), row)
      unsafe gtk_list_box_unselect_all(cast(list.widget))
      XCTAssertTrue(unsafe rows == [row, nil])
    }
  }

  func testAPropertyThatChangesIsASignalWithADetail() {
    MainActor.assumeIsolated {
      let label = unsafe Owned(gtk_label_new("one"))
      var count = 0
      unsafe connect(label.widget, "notify::label") { count += 1 }
      unsafe gtk_label_set_text(cast(label.widget), "two")
      unsafe gtk_label_set_xalign(cast(label.widget), 0)
      XCTAssertEqual(count, 1)
    }
  }

  func testTheResultOfAClosureGoesToTheSender() {
    MainActor.assumeIsolated {
      let window = unsafe gtk_window_new()
      var mayClose = false
      unsafe connect(window, "close-request") { !mayClose }
      XCTAssertEqual(unsafe emit(window, "close-request"), true)
      mayClose = true
      XCTAssertEqual(unsafe emit(window, "close-request"), false)
      unsafe gtk_window_destroy(cast(window))

      // A closure without a result says no.
      let other = unsafe gtk_window_new()
      unsafe connect(other, "close-request") { mayClose = false }
      XCTAssertEqual(unsafe emit(other, "close-request"), false)
      unsafe gtk_window_destroy(cast(other))

      let keys = unsafe Owned(gtk_event_controller_key_new())
      unsafe connect(keys.object, "key-pressed") { (key: Int32) in key == GDK_KEY_Escape }
      let escape = unsafe emit(keys.object, "key-pressed", UInt32(GDK_KEY_Escape), UInt32(9), GdkModifierType(0))
      XCTAssertEqual(escape, true)
      let letter = unsafe emit(keys.object, "key-pressed", UInt32(GDK_KEY_a), UInt32(9), GdkModifierType(0))
      XCTAssertEqual(letter, false)
    }
  }

  func testAClosureIsReleasedWhenItIsDisconnected() {
    MainActor.assumeIsolated {
      let button = unsafe Owned(gtk_button_new())
      weak var kept: Token?
      var connection: SignalConnection?
      do {
        let token = Token()
        kept = token
        connection = unsafe connect(button.widget, "clicked") { _ = token }
      }
      XCTAssertNotNil(kept)
      connection?.disconnect()
      XCTAssertNil(kept)
    }
  }

  func testAClosureIsReleasedWhenItsObjectIsDestroyed() {
    MainActor.assumeIsolated {
      weak var kept: Token?
      var connection: SignalConnection?
      do {
        let token = Token()
        kept = token
        let button = unsafe Owned(gtk_button_new())
        connection = unsafe connect(button.widget, "clicked") { _ = token }
        XCTAssertNotNil(kept)
      }
      XCTAssertNil(kept)
      XCTAssertEqual(connection?.isConnected, false)
      connection?.disconnect()
    }
  }

  func testAClosureIsReleasedWithAnObjectThatEndsOnAnotherThread() async throws {
    let kept = await MainActor.run {
      let token = Token()
      let object = unsafe g_simple_action_new("action", nil)
      unsafe connect(object, "activate") { _ = token }
      let reference = Int(bitPattern: object)
      Thread.detachNewThread { unsafe g_object_unref(UnsafeMutableRawPointer(bitPattern: reference)) }
      return WeakToken(token)
    }
    try await until { await MainActor.run(body: { kept.token == nil }) }
  }

  @MainActor
  private final class WeakToken {
    weak var token: Token?

    init(_ token: Token) { self.token = token }
  }

  func testAClosureMayDisconnectItself() {
    MainActor.assumeIsolated {
      let button = unsafe Owned(gtk_button_new())
      weak var kept: Token?
      var count = 0
      do {
        let token = Token()
        kept = token
        var connection: SignalConnection?
        connection = unsafe connect(button.widget, "clicked") {
          connection?.disconnect()
          connection = nil
          XCTAssertTrue(token === kept)
          count += 1
        }
      }
      unsafe emit(button.widget, "clicked")
      unsafe emit(button.widget, "clicked")
      XCTAssertEqual(count, 1)
      XCTAssertNil(kept)
    }
  }

  func testAWrongConnectionSaysWhatIsWrong() {
    MainActor.assumeIsolated {
      let keys = unsafe Owned(gtk_event_controller_key_new())
      let button = unsafe Owned(gtk_button_new())
      let unknown = unsafe Self.mistake(button.object, "clicket") {}
      XCTAssertEqual(
        unknown?.hasPrefix("GtkButton has no signal \"clicket\". It has: activate, clicked, "),
        true,
        unknown ?? "",
      )
      XCTAssertNil(unsafe Self.mistake(button.object, "clicked") {})
      XCTAssertEqual(
        unsafe Self.mistake(button.object, "clicked") { (_: Int) in },
        "\"clicked\" of GtkButton has the arguments (), not (Int)",
      )
      XCTAssertEqual(
        unsafe Self.mistake(keys.object, "key-pressed") { (_: Int, _: String) in },
        "\"key-pressed\" of GtkEventControllerKey has the arguments (guint, guint, GdkModifierType), not (Int, String)",
      )
      XCTAssertEqual(
        unsafe Self.mistake(keys.object, "key-pressed", SignalHandler(returning: { "yes" })),
        "\"key-pressed\" of GtkEventControllerKey wants a gboolean, not a String",
      )
    }
  }

  @MainActor
  private static func mistake<each Argument: SignalValue>(
    _ object: UnsafeMutableRawPointer,
    _ signal: String,
    _ body: @escaping @MainActor (repeat each Argument) -> Void,
  ) -> String? {
    unsafe mistake(object, signal, SignalHandler(body))
  }

  @MainActor
  private static func mistake(_ object: UnsafeMutableRawPointer, _ signal: String, _ handler: SignalHandler) -> String?
  {
    do throws(SignalName.Mistake) {
      unsafe try SignalName(signal, of: object).check(handler)
      return nil
    } catch {
      return error.message
    }
  }

  // MARK: Conversions

  func testAConversionHasTheFormThatIsExpected() {
    MainActor.assumeIsolated {
      let label = unsafe Owned(gtk_label_new("Hello"))
      let widget: UnsafeMutablePointer<GtkWidget> = unsafe label.widget
      let opaque: OpaquePointer = unsafe cast(widget)
      let back: UnsafeMutablePointer<GtkWidget> = unsafe cast(opaque)
      XCTAssertTrue(unsafe back == widget)
      XCTAssertEqual(unsafe String(cString: gtk_label_get_text(cast(widget))), "Hello")
      let none: UnsafeMutablePointer<GtkWidget>? = nil
      XCTAssertTrue(unsafe gtk_widget_get_parent(cast(none ?? widget)) == nil)
    }
  }

  func testAConversionByTypeIsNilForAnotherClass() {
    MainActor.assumeIsolated {
      let button = unsafe Owned(gtk_button_new())
      let asButton: UnsafeMutablePointer<GtkButton>? = unsafe cast(button.widget, as: gtk_button_get_type())
      let asBuildable: OpaquePointer? = unsafe cast(button.widget, as: gtk_buildable_get_type())
      let asLabel: OpaquePointer? = unsafe cast(button.widget, as: gtk_label_get_type())
      XCTAssertTrue(unsafe asButton != nil && asBuildable != nil && asLabel == nil)
    }
  }

  func testAWrongConversionSaysWhatIsWrong() {
    MainActor.assumeIsolated {
      let button = unsafe Owned(gtk_button_new())
      typealias Pointer = UnsafeMutablePointer
      XCTAssertEqual(
        unsafe VitrineGTK.mistake(button.widget, Pointer<GtkBox>.self),
        "a GtkButton is not a GtkBox",
      )
      XCTAssertNil(unsafe VitrineGTK.mistake(button.widget, Pointer<GtkButton>.self))
      XCTAssertNil(unsafe VitrineGTK.mistake(button.widget, Pointer<GObject>.self))
      XCTAssertNil(unsafe VitrineGTK.mistake(button.widget, Pointer<GInitiallyUnowned>.self))
      XCTAssertNil(unsafe VitrineGTK.mistake(button.widget, Pointer<GTypeInstance>.self))
      XCTAssertNil(unsafe VitrineGTK.mistake(button.widget, OpaquePointer.self))
    }
  }

  // MARK: Properties

  func testAPropertyIsSetByItsName() {
    MainActor.assumeIsolated {
      let label = unsafe Owned(gtk_label_new(nil))
      unsafe setProperty(label.widget, "label", "Hello")
      unsafe setProperty(label.widget, "xalign", 0.25)
      unsafe setProperty(label.widget, "wrap", true)
      XCTAssertEqual(unsafe String(cString: gtk_label_get_text(cast(label.widget))), "Hello")
      XCTAssertEqual(unsafe gtk_label_get_xalign(cast(label.widget)), 0.25)
      XCTAssertEqual(unsafe gtk_label_get_wrap(cast(label.widget)), 1)
      XCTAssertEqual(unsafe set(label.object, "text", "Hello"), "there is no property \"text\" of GtkLabel")
      XCTAssertEqual(unsafe set(label.object, "wrap", "yes"), "\"wrap\" of GtkLabel is a gboolean, not a String")
    }
  }

  func testAnItemOfAListOfStringsHasAText() {
    MainActor.assumeIsolated {
      let model = unsafe Owned(gtk_string_list_new(nil))
      unsafe gtk_string_list_append(cast(model.object), "one")
      let item = unsafe g_list_model_get_item(cast(model.object), 0)
      defer { unsafe g_object_unref(item) }
      let (object, other): (UnsafeMutablePointer<GObject>, UnsafeMutablePointer<GObject>)
      unsafe (object, other) = (cast(item), cast(model.object))
      XCTAssertEqual(unsafe object.text, "one")
      XCTAssertNil(unsafe other.text)
    }
  }

  // MARK: Containers

  func testAChildIsPutIntoEveryKindOfContainer() {
    MainActor.assumeIsolated {
      // Containers of several children take two, those of one replace it.
      let several = unsafe [
        Owned(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)), Owned(gtk_list_box_new()), Owned(gtk_flow_box_new()),
        Owned(gtk_header_bar_new()), Owned(gtk_action_bar_new()), Owned(gtk_stack_new()), Owned(gtk_notebook_new()),
        Owned(gtk_paned_new(GTK_ORIENTATION_VERTICAL)), Owned(gtk_overlay_new()),
      ]
      let single = unsafe [
        Owned(gtk_button_new()), Owned(gtk_toggle_button_new()), Owned(gtk_frame_new(nil)),
        Owned(gtk_scrolled_window_new()), Owned(gtk_aspect_frame_new(0, 0, 1, 1)), Owned(gtk_revealer_new()),
        Owned(gtk_popover_new()), Owned(gtk_list_box_row_new()), Owned(gtk_search_bar_new()),
        Owned(gtk_viewport_new(nil, nil)), Owned(gtk_window_new()),
      ]
      for (parents, expected) in [(several, 2), (single, 1)] {
        for parent in parents {
          let name = unsafe className(of: parent.object)
          let children = unsafe [Owned(gtk_label_new("1")), Owned(gtk_label_new("2"))]
          for child in children { unsafe child.widget.append(to: parent.widget) }
          let held = children.filter { unsafe gtk_widget_is_ancestor($0.widget, parent.widget) != 0 }
          XCTAssertEqual(held.count, expected, name)
          XCTAssertTrue(held.last === children.last, name)
          if name == "GtkWindow" { unsafe gtk_window_destroy(cast(parent.widget)) }
        }
      }
    }
  }

  func testAContainerWithoutRoomIsRefused() {
    MainActor.assumeIsolated {
      let (child, label) = unsafe (Owned(gtk_label_new("child")), Owned(gtk_label_new("parent")))
      XCTAssertFalse(unsafe put(child.widget, into: label.object))
      let paned = unsafe Owned(gtk_paned_new(GTK_ORIENTATION_HORIZONTAL))
      for _ in 0..<2 { unsafe gtk_label_new("side").append(to: paned.widget) }
      XCTAssertFalse(unsafe put(child.widget, into: paned.object))
    }
  }

  func testAPictureIsAppendedAndReturned() {
    MainActor.assumeIsolated {
      let box = unsafe Owned(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0))
      let picture = unsafe RemotePicture(width: 10, height: 10).append(to: box.widget)
      XCTAssertTrue(unsafe gtk_widget_get_parent(picture.widget) == box.widget)
    }
  }

  // MARK: Style sheets

  func testAMistakeInAStyleSheetIsReportedWithItsLine() {
    MainActor.assumeIsolated {
      var mistakes: [String] = []
      let rules = ".toolkit { color: red; }\n.toolkit {\n  colour: red;\n}\n"
      XCTAssertTrue(StyleSheet.add(rules, priority: GTK_STYLE_PROVIDER_PRIORITY_USER) { mistakes.append($0) })
      XCTAssertEqual(mistakes, ["line 3, column 3: No property named \"colour\""])
    }
  }

  func testRulesOfTheProgramApply() {
    MainActor.assumeIsolated {
      css("label.toolkit-test { min-width: 123px; }")
      let label = unsafe Owned(gtk_label_new("1"))
      unsafe gtk_widget_add_css_class(label.widget, "toolkit-test")
      var width: Int32 = 0
      unsafe gtk_widget_measure(label.widget, GTK_ORIENTATION_HORIZONTAL, -1, &width, nil, nil, nil)
      XCTAssertEqual(width, 123)
    }
  }
}
