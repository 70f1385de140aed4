import CGTK
import CVitrineGTK
import Vitrine
import VitrineRuntime
import XCTest

@testable import VitrineGTK

/// A test of widgets, on the main thread and on a display; skipped where there is none.
class WidgetTestCase: XCTestCase {
  override func setUpWithError() throws {
    let hasDisplay = MainActor.assumeIsolated {
      guard Application.findsDisplay else { return false }
      MainActorSource.attach()
      return true
    }
    if !hasDisplay { throw XCTSkip("there is no display; make test runs this under Xvfb") }
    Warnings.begin()
  }

  /// GTK warns of a widget that is used wrongly, and goes on.
  override func tearDown() {
    XCTAssertEqual(Warnings.take(), [])
    super.tearDown()
  }
}

/// The warnings of GTK.
private enum Warnings {
  private static let texts = Lock<[String]>([])
  private static let isListening: Bool = {
    // GLib allows one writer for the life of a program.
    unsafe g_log_set_writer_func(
      { level, fields, count, _ in
        let isWarning = level.rawValue & (G_LOG_LEVEL_WARNING.rawValue | G_LOG_LEVEL_CRITICAL.rawValue) != 0
        // GLib passes so many fields, whose texts live for the call.
        func text(_ key: String) -> String {
          for index in 0..<Int(count) {
            guard let field = unsafe fields?[index], unsafe strcmp(field.key, key) == 0 else { continue }
            return unsafe field.value.map { unsafe String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? ""
          }
          return ""
        }
        if isWarning, text("GLIB_DOMAIN") == "Gtk" {
          let message = text("MESSAGE")
          texts.withLock { $0.append(message) }
        }
        return unsafe g_log_writer_default(level, fields, count, nil)
      },
      nil,
      nil,
    )
    return true
  }()

  static func begin() {
    _ = isListening
    _ = take()
  }

  static func take() -> [String] {
    texts.withLock { texts in
      defer { texts = [] }
      return texts
    }
  }
}

/// GLib's main loop, turned by the test.
@MainActor
enum MainLoop {
  private static var isLate = false

  /// Turns until `condition` holds; the time limit is for what would otherwise never end.
  static func turn(_ file: StaticString = #filePath, _ line: UInt = #line, until condition: () -> Bool) {
    isLate = false
    // The function is given nothing.
    let timer = unsafe g_timeout_add(
      60_000,
      { _ in
        MainActor.assumeIsolated { MainLoop.isLate = true }
        return 1
      },
      nil,
    )
    defer { g_source_remove(timer) }
    while !condition() {
      if isLate { return XCTFail("the main loop brought nothing in a minute", file: file, line: line) }
      g_main_context_iteration(nil, 1)
    }
  }

  /// Waits until a frame of an animation is decoded.
  static func decode(_ frame: Int, of image: AnimatedImage) {
    var isDecoded = false
    Task { @MainActor in
      _ = try? await image.frame(at: frame)
      isDecoded = true
    }
    turn { isDecoded }
  }

  /// Does what is ready, and waits for nothing.
  static func drain() {
    while g_main_context_iteration(nil, 0) != 0 {}
  }
}

/// A window of a test's own.
@MainActor
@safe
final class TestWindow {
  let widget: UnsafeMutablePointer<GtkWidget>
  private var frames = 0

  init(_ child: UnsafeMutablePointer<GtkWidget>, width: Int = 300, height: Int = 200) {
    unsafe widget = gtk_window_new()
    unsafe gtk_window_set_default_size(vitrine_gtk_window(widget), gint(width), gint(height))
    unsafe gtk_window_set_child(vitrine_gtk_window(widget), child)
    unsafe gtk_window_present(vitrine_gtk_window(widget))
    let clock = unsafe UnsafeMutableRawPointer(gtk_widget_get_frame_clock(widget))
    if let clock = unsafe clock { unsafe Signals.connect(clock, "after-paint") { [weak self] in self?.frames += 1 } }
    nextFrame()
  }

  /// Waits until everything has been laid out and drawn.
  func nextFrame() {
    let before = frames
    unsafe gtk_widget_queue_draw(widget)
    MainLoop.turn { frames > before }
  }

  func close() {
    unsafe gtk_window_destroy(vitrine_gtk_window(widget))
    MainLoop.drain()
  }

  /// Draws a widget as the screen would, and returns the pixels: red, green, blue, alpha, multiplied.
  func render(_ child: UnsafeMutablePointer<GtkWidget>) throws -> [[UInt8]] {
    let (width, height) = unsafe (gtk_widget_get_width(child), gtk_widget_get_height(child))
    let paintable = unsafe gtk_widget_paintable_new(child)
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(paintable)) }
    let snapshot = unsafe gtk_snapshot_new()
    unsafe gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
    let node = unsafe try XCTUnwrap(gtk_snapshot_free_to_node(snapshot))
    defer { unsafe gsk_render_node_unref(node) }
    var viewport = graphene_rect_t()
    unsafe graphene_rect_init(&viewport, 0, 0, Float(width), Float(height))
    let renderer = unsafe gtk_native_get_renderer(gtk_widget_get_native(widget))
    let texture = unsafe try XCTUnwrap(gsk_renderer_render_texture(renderer, node, &viewport))
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(texture)) }
    return unsafe pixels(of: texture)
  }
}

/// The pixels of a texture: red, green, blue, alpha, multiplied.
@MainActor
func pixels(of texture: OpaquePointer) -> [[UInt8]] {
  let (width, height) = unsafe (Int(gdk_texture_get_width(texture)), Int(gdk_texture_get_height(texture)))
  var bytes = [UInt8](repeating: 0, count: 4 * width * height)
  unsafe gdk_texture_download(texture, &bytes, gsize(4 * width))
  // Cairo's order on a little-endian machine: blue, green, red, alpha.
  return stride(from: 0, to: bytes.count, by: 4).map { [bytes[$0 + 2], bytes[$0 + 1], bytes[$0], bytes[$0 + 3]] }
}

extension Bitmap {
  /// The pixels as ``pixels(of:)`` gives them.
  var multipliedPixels: [[UInt8]] {
    let bitmap = premultiplied()
    return (0..<height).flatMap { y in
      (0..<width).map { x in
        let pixel = bitmap[x, y]
        return [pixel.x, pixel.y, pixel.z, pixel.w]
      }
    }
  }
}
