import CGTK
import CVitrineGTK
import Foundation
import Vitrine
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// A picture as it is to be looked at.
@MainActor
struct GoldenScene {
  let name: String
  var isDark = false
  var width = 160
  var height = 120
  var mode = TargetSize.Mode.fill
  /// The icons of the theme that it shows.
  var icons: [String] = []
  /// Configures the picture and begins to load.
  let prepare: (RemotePicture) throws -> Void
  /// True once it looks as it should.
  var isReady: (RemotePicture) -> Bool = { $0.content.isImage }
  /// Changes the picture after that.
  var finish: (RemotePicture) throws -> Void = { _ in }
}

/// A window in Adwaita's colours, in which scenes are drawn.
@MainActor
@safe
final class GoldenStage {
  /// The space around a picture, in points.
  static let margin = 12

  private let settings: OpaquePointer?
  private let defaults: (theme: String?, icons: String?)

  init() {
    unsafe settings = gtk_settings_get_default()
    unsafe defaults = (Self.text(settings, "gtk-theme-name"), Self.text(settings, "gtk-icon-theme-name"))
    unsafe setProperty(settings, "gtk-theme-name", "Adwaita")
    unsafe setProperty(settings, "gtk-icon-theme-name", "Adwaita")
  }

  /// Leaves everything as it was, for the tests that follow.
  isolated deinit {
    unsafe setProperty(settings, "gtk-theme-name", defaults.theme ?? "Default")
    unsafe setProperty(settings, "gtk-icon-theme-name", defaults.icons ?? "Adwaita")
    unsafe setProperty(settings, "gtk-application-prefer-dark-theme", false)
    unsafe setProperty(settings, "gtk-enable-animations", true)
  }

  private static func text(_ settings: OpaquePointer?, _ property: String) -> String? {
    var value = GValue()
    unsafe g_value_init(&value, GType(16 << 2))  // G_TYPE_STRING
    defer { unsafe g_value_unset(&value) }
    unsafe g_object_get_property(vitrine_gtk_object(UnsafeMutableRawPointer(settings)), property, &value)
    return unsafe g_value_get_string(&value).map { unsafe String(cString: $0) }
  }

  /// Returns `true` if the theme has an icon.
  func hasIcon(_ name: String) -> Bool {
    unsafe gtk_icon_theme_has_icon(gtk_icon_theme_get_for_display(gdk_display_get_default()), name) != 0
  }

  /// Draws a scene in the display's pixels.
  func draw(_ scene: GoldenScene, change: (RemotePicture) -> Void = { _ in }) throws -> Bitmap {
    unsafe setProperty(settings, "gtk-application-prefer-dark-theme", scene.isDark)
    unsafe setProperty(settings, "gtk-enable-animations", false)
    let pipeline = ImagePipeline.testing()
    let picture = RemotePicture(pipeline, width: scene.width, height: scene.height, mode: scene.mode)
    let box = unsafe gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
    unsafe gtk_widget_add_css_class(box, "background")
    unsafe gtk_widget_set_halign(box, GTK_ALIGN_CENTER)
    unsafe gtk_widget_set_valign(box, GTK_ALIGN_CENTER)
    for edge in ["margin-start", "margin-end", "margin-top", "margin-bottom"] {
      unsafe setProperty(picture.widget, edge, Self.margin)
    }
    unsafe picture.append(to: box)
    guard let box = unsafe box else { throw GoldenError(message: "there is no box") }
    let window = unsafe TestWindow(box)
    defer { window.close() }
    try scene.prepare(picture)
    change(picture)
    MainLoop.turn { scene.isReady(picture) }
    try scene.finish(picture)
    window.nextFrame()
    return unsafe try window.picture(of: box)
  }
}

struct GoldenError: Error {
  let message: String
}

extension TestWindow {
  /// Draws a widget in the display's pixels.
  func picture(of child: UnsafeMutablePointer<GtkWidget>) throws -> Bitmap {
    let (width, height) = unsafe (Double(gtk_widget_get_width(child)), Double(gtk_widget_get_height(child)))
    let scale = unsafe Double(gtk_widget_get_scale_factor(child))
    let paintable = unsafe gtk_widget_paintable_new(child)
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(paintable)) }
    let snapshot = unsafe gtk_snapshot_new()
    unsafe gtk_snapshot_scale(snapshot, Float(scale), Float(scale))
    unsafe gdk_paintable_snapshot(paintable, snapshot, width, height)
    // Where nothing is drawn there is no node.
    guard let node = unsafe gtk_snapshot_free_to_node(snapshot) else {
      return .solid(SIMD4(0, 0, 0, 0), width: Int(width * scale), height: Int(height * scale))
    }
    defer { unsafe gsk_render_node_unref(node) }
    var viewport = graphene_rect_t()
    unsafe graphene_rect_init(&viewport, 0, 0, Float(width * scale), Float(height * scale))
    let renderer = unsafe gtk_native_get_renderer(gtk_widget_get_native(widget))
    let texture = unsafe try XCTUnwrap(gsk_renderer_render_texture(renderer, node, &viewport))
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(texture)) }
    return unsafe Bitmap(texture: texture)
  }
}

extension ImageSlot.Content {
  var isImage: Bool { if case .image = self { true } else { false } }
  var isPlaceholder: Bool { if case .placeholder = self { true } else { false } }
  var isFailure: Bool { if case .failure = self { true } else { false } }
}
