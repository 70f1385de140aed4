import CGTK
import CVitrineGTK
import Vitrine
import XCTest

@testable import VitrineGTK

/// GTK's objects without pointers: widgets, their input, lists of texts, actions and menus.
final class WidgetTests: WidgetTestCase {
  // MARK: Objects

  func testAWidgetIsReleasedWithItsObject() {
    MainActor.assumeIsolated {
      var connections: [SignalConnection] = []
      for type in [gtk_button_get_type(), gtk_box_get_type()] {
        let widget = Widget(of: type)
        connections.append(widget.on("notify::name") {})
        // Another object for the same widget.
        XCTAssertTrue(unsafe Widget(widget.pointer).pointer == widget.pointer)
        XCTAssertEqual(connections.last?.isConnected, true)
      }
      do {
        let (list, menu, action) = (StringList(["one"]), Menu(), Action("mute") {})
        connections.append(list.on("items-changed") {})
        connections.append(menu.on("items-changed") {})
        connections.append(action.on("notify::enabled") {})
        withExtendedLifetime((list, menu, action)) { XCTAssertTrue(connections.suffix(3).allSatisfy(\.isConnected)) }
      }
      XCTAssertFalse(connections.contains(where: \.isConnected))
    }
  }

  /// GTK 4.12 and later bind a cell while the widget around it has no owner yet.
  func testAWidgetAroundAnotherKeepsItsFloatingReference() {
    MainActor.assumeIsolated {
      let child = Widget.label("Hello")
      let around: UnsafeMutablePointer<GtkWidget> = unsafe gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
      unsafe gtk_box_append(cast(around), child.pointer)
      let object = UnsafeMutableRawPointer(around)

      child.parent?.setAccessibleName("around")
      XCTAssertTrue(unsafe g_object_is_floating(object) != 0)

      // The test is its owner.
      unsafe g_object_ref_sink(object)
      XCTAssertTrue(unsafe child.parent?.pointer == around)
      unsafe g_object_unref(object)
      XCTAssertNil(child.parent)
    }
  }

  func testAPropertyIsReadAsItWasSet() {
    MainActor.assumeIsolated {
      let label = Widget.label("Hello", "title")
      label.set("xalign", 0.25)
      label.set("wrap", true)
      label.set("max-width-chars", 12)
      label.set("ellipsize", PANGO_ELLIPSIZE_MIDDLE)
      XCTAssertEqual(label.get("label"), "Hello")
      XCTAssertEqual(label.get("xalign"), 0.25)
      XCTAssertEqual(label.get("wrap"), true)
      XCTAssertEqual(label.get("max-width-chars"), 12)
      XCTAssertEqual(label.get("ellipsize", as: PangoEllipsizeMode.self), PANGO_ELLIPSIZE_MIDDLE)
      XCTAssertNil(label.get("tooltip-text", as: String.self))
      XCTAssertTrue(label.hasClass("title"))
    }
  }

  func testAPropertyMayBeAnObject() {
    MainActor.assumeIsolated {
      let view = Widget.scrolled(.label("Hello"))
      view.object("vadjustment")?.set("upper", 5000.0)
      XCTAssertEqual(view.object("vadjustment")?.get("upper"), 5000.0)
      let (frame, other) = (Widget(of: gtk_frame_get_type()), Widget.label("other"))
      frame.set("child", other)
      XCTAssertTrue(unsafe frame.object("child")?.object == other.object)
      frame.set("child", nil)
      XCTAssertNil(frame.object("child"))
      XCTAssertNil(other.parent)
      // Of an interface.
      let grid = Widget(of: gtk_grid_view_get_type())
      let list = StringList(["one"])
      grid.set("model", list)
      XCTAssertTrue(unsafe grid.object("model")?.object == list.object)
      XCTAssertEqual(
        unsafe set(UnsafeMutableRawPointer(other.object), "label", ObjectValue(object: list.object)),
        "\"label\" of GtkLabel is a gchararray, not a ObjectValue",
      )
      // A structure is no object.
      XCTAssertFalse(ObjectValue.accepts(gdk_rgba_get_type()))
    }
  }

  // MARK: Widgets

  func testABoxHoldsWidgetsInOrderAndLosesThem() {
    MainActor.assumeIsolated {
      let box = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 6, [.label("one"), .label("two")])
      XCTAssertEqual(box.get("spacing"), 6)
      let first = unsafe Widget(gtk_widget_get_first_child(box.pointer))
      XCTAssertEqual(first.text, "one")
      XCTAssertTrue(unsafe first.parent?.pointer == box.pointer)
      box.removeChildren()
      XCTAssertNil(first.parent)
      XCTAssertTrue(unsafe gtk_widget_get_first_child(box.pointer) == nil)
    }
  }

  func testAWidgetOfAnotherClassStaysAsItIs() {
    MainActor.assumeIsolated {
      let (label, button) = (Widget.label("one"), Widget.button("two"))
      button.text = "three"
      XCTAssertEqual(button.text, "")
      XCTAssertEqual(button.get("label"), "two")
      label.addAtEnd(button)
      label.removeChildren()
      label.present()
      label.close()
      label.scroll(toItem: -1)
      Action("mute") {}.add(to: label)
      XCTAssertNil(button.parent)
      XCTAssertEqual(label.text, "one")
    }
  }

  func testAnIconButtonHasANameAndAnAction() {
    MainActor.assumeIsolated {
      let button = Widget.button(icon: "open-menu-symbolic", "Menu", action: "win.menu", isToggle: true)
      XCTAssertEqual(unsafe className(of: UnsafeMutableRawPointer(button.object)), "GtkToggleButton")
      XCTAssertEqual(button.get("icon-name"), "open-menu-symbolic")
      XCTAssertEqual(button.get("tooltip-text"), "Menu")
      XCTAssertEqual(button.get("action-name"), "win.menu")
    }
  }

  func testLayoutAndFocus() {
    MainActor.assumeIsolated {
      let (entry, label) = (Widget(of: gtk_entry_get_type()), Widget.label().minimumSize(width: 120, height: 50))
      let box = Widget.box(GTK_ORIENTATION_VERTICAL, [entry.margins(7), label.aligned(GTK_ALIGN_START)])
      let window = unsafe TestWindow(box.expands().pointer)
      defer { window.close() }
      XCTAssertTrue(entry.isMapped)
      XCTAssertEqual(label.size.width, 120)
      XCTAssertEqual(label.size.height, 50)
      XCTAssertEqual(label.minimumWidth, 120)
      label.isShown = false
      XCTAssertLessThan(box.minimumWidth, 200)
      label.isShown = true
      XCTAssertEqual(box.size.height, 200)
      XCTAssertEqual(entry.get("margin-end"), 7)
      XCTAssertTrue(entry.focus())
      XCTAssertTrue(box.hasFocusWithin)
      box.setClass("large", true)
      box.setClass("large", false)
      XCTAssertFalse(box.hasClass("large"))
      entry.isShown = false
      XCTAssertFalse(entry.isMapped)
    }
  }

  // MARK: Input

  /// Returns the last event controller that was added to a widget, with a reference for the caller.
  @MainActor
  private static func controller(of widget: Widget) -> Owned {
    let all = unsafe gtk_widget_observe_controllers(widget.pointer)
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(all)) }
    let count = unsafe g_list_model_get_n_items(all)
    let items = (0..<count).map { unsafe Owned(g_list_model_get_item(all, $0)) }
    // GTK shows the newest first.
    return items[0]
  }

  func testAKeyThatIsUsedGoesNoFurther() {
    MainActor.assumeIsolated {
      let widget = Widget.label()
      widget.onKey(GTK_PHASE_CAPTURE) { key, modifiers in key == 65 && modifiers == GDK_SHIFT_MASK }
      let keys = Self.controller(of: widget)
      XCTAssertTrue(unsafe gtk_event_controller_get_propagation_phase(OpaquePointer(keys.object)) == GTK_PHASE_CAPTURE)
      XCTAssertEqual(unsafe emit(keys.object, "key-pressed", UInt32(65), UInt32(9), GDK_SHIFT_MASK), true)
      XCTAssertEqual(unsafe emit(keys.object, "key-pressed", UInt32(65), UInt32(9), GdkModifierType(0)), false)
    }
  }

  func testClicksScrollsMovesAndDragsAreTold() {
    MainActor.assumeIsolated {
      var log: [String] = []
      let widget = Widget.label()
      widget.onClick { log.append("pressed \($0.count) \($0.x) \($0.y)") }
      unsafe emit(Self.controller(of: widget).object, "pressed", Int32(2), 3.0, 4.0)
      widget.onClick(whenReleased: true) { log.append("released \($0.count)") }
      unsafe emit(Self.controller(of: widget).object, "released", Int32(1), 3.0, 4.0)
      widget.onScroll(GTK_PHASE_CAPTURE) { scroll in
        log.append("scrolled \(scroll.x) \(scroll.y) \(scroll.isTouchpad)")
        return scroll.y > 0
      }
      XCTAssertEqual(unsafe emit(Self.controller(of: widget).object, "scroll", 0.0, 1.0), true)
      XCTAssertEqual(unsafe emit(Self.controller(of: widget).object, "scroll", 0.0, -1.0), false)
      widget.onMotion { log.append($0.map { "at \($0.x) \($0.y)" } ?? "left") }
      unsafe emit(Self.controller(of: widget).object, "motion", 5.0, 6.0)
      unsafe emit(Self.controller(of: widget).object, "leave")
      XCTAssertEqual(
        log,
        [
          "pressed 2 3.0 4.0", "released 1", "scrolled 0.0 1.0 false", "scrolled 0.0 -1.0 false", "at 5.0 6.0", "left",
        ],
      )
    }
  }

  // MARK: Lists

  @MainActor
  private static func texts(_ list: StringList) -> [String] {
    (0..<list.count).compactMap { position in
      let item = unsafe g_list_model_get_item(OpaquePointer(list.object), guint(position))
      defer { unsafe g_object_unref(item) }
      let object: UnsafeMutablePointer<GObject> = unsafe cast(item)
      return unsafe object.text
    }
  }

  func testTextsAreReplaced() {
    MainActor.assumeIsolated {
      let list = StringList(["one", "two", "three"], selection: .multiple)
      list.replace(1..<2, with: ["a", "ü", "c"])
      XCTAssertEqual(Self.texts(list), ["one", "a", "ü", "c", "three"])
      list.replace(5..<5, with: ["end"])
      list.replace(0..<4, with: [])
      XCTAssertEqual(Self.texts(list), ["three", "end"])
    }
  }

  func testASelectionIsToldNowAndLater() {
    MainActor.assumeIsolated {
      for (kind, expected) in [
        (StringList.Selection.none, [[]]), (.single, [[0], [1]]), (.multiple, [[], [1], [0, 2], []]),
      ] {
        let list = StringList(["one", "two", "three"], selection: kind)
        var told: [[Int]] = []
        list.onSelect { told.append($0) }
        list.selected = [1]
        list.selected = [0, 2]
        list.selected = [3, -1]
        XCTAssertEqual(told, expected, "\(kind)")
        XCTAssertEqual(list.selected, expected.last, "\(kind)")
      }
    }
  }

  func testAListShowsItsTextsInCells() {
    MainActor.assumeIsolated {
      let list = StringList(["one", "two"])
      var bound: Set<String> = []
      let factory = unsafe RemotePictureFactory(.ephemeral, width: 20, height: 20) { _ in nil }
      factory.onSetup = { cell in
        let label = Widget.label()
        cell.onBind = { cell in
          label.text = cell.text ?? ""
          bound.insert(label.text)
        }
        cell.child = .box(GTK_ORIENTATION_HORIZONTAL, [Widget(cell.picture), label])
      }
      let view = Widget.scrolled(Widget(of: gtk_list_view_get_type()).show(list, factory))
      let window = unsafe TestWindow(view.pointer)
      defer { window.close() }
      XCTAssertEqual(bound, ["one", "two"])
      XCTAssertTrue(view.isMapped)
    }
  }

  // MARK: Actions

  func testAnActionIsPerformedWhileItIsEnabled() {
    MainActor.assumeIsolated {
      var log: [String] = []
      Application(arguments: []).run { app in
        let window = app.window(title: "Actions")
        let plain = Action("plain") { log.append("plain") }
        let mute = Action("mute", isOn: false) { log.append("mute") }
        for action in [plain, mute] { action.add(to: window) }
        Action("order", choice: "name") { log.append($0) }.add(to: window)
        let group = unsafe OpaquePointer(window.object)
        for name in ["plain", "mute"] { unsafe g_action_group_activate_action(group, name, nil) }
        unsafe g_action_group_activate_action(group, "order", g_variant_new_string("size"))
        plain.set("enabled", false)
        unsafe g_action_group_activate_action(group, "plain", nil)
        XCTAssertFalse(mute.isOn)
        mute.isOn = true
        XCTAssertTrue(mute.isOn)
        XCTAssertFalse(plain.isOn)
        let state = unsafe g_action_group_get_action_state(group, "order")
        defer { unsafe g_variant_unref(state) }
        XCTAssertEqual(unsafe String(cString: g_variant_get_string(state, nil)), "size")
        app.quit()
      }
      XCTAssertEqual(log, ["plain", "mute", "size"])
    }
  }

  func testAMenuHasItemsSectionsAndMenus() {
    MainActor.assumeIsolated {
      let (menu, section, more) = (Menu(), Menu(), Menu())
      section.add("Open", action: "win.open", key: "<Control>o")
      section.add("Close", action: "win.close")
      menu.add(section: section)
      menu.add("More", submenu: more)
      let button = Widget(of: gtk_menu_button_get_type())
      button.set("menu-model", menu)
      let model: UnsafeMutablePointer<GMenuModel> = unsafe cast(section.object)
      XCTAssertEqual(unsafe g_menu_model_get_n_items(model), 2)
      for (name, expected) in [("label", "Open"), ("action", "win.open"), ("accel", "<Control>o")] {
        let value = unsafe g_menu_model_get_item_attribute_value(model, 0, name, nil)
        defer { unsafe g_variant_unref(value) }
        XCTAssertEqual(unsafe String(cString: g_variant_get_string(value, nil)), expected)
      }
      let all: UnsafeMutablePointer<GMenuModel> = unsafe cast(menu.object)
      XCTAssertEqual(unsafe g_menu_model_get_n_items(all), 2)
      let link = unsafe g_menu_model_get_item_link(all, 1, "submenu")
      defer { unsafe g_object_unref(UnsafeMutableRawPointer(link)) }
      XCTAssertTrue(unsafe link.map { UnsafeMutableRawPointer($0) } == UnsafeMutableRawPointer(more.object))
    }
  }
}
