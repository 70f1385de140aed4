import CGTK
import CVitrineGTK
import VitrineGTK
import VitrineGalleryModel
import VitrineRuntime

/// The services of the desktop: the trash, other programs, a folder, the clipboard.
@MainActor
enum Desktop {
  /// The name of the program on the bus, of its icon and of its desktop entry.
  static let applicationID = "io.github.vitrine.Gallery"

  /// Makes the file at a path; the caller owns it.
  nonisolated static func file(at path: String) -> OpaquePointer? {
    unsafe ByteString(fileText: path).withCString { unsafe g_file_new_for_path($0) }
  }

  // MARK: The trash

  /// The trash of the user.
  nonisolated static var trash: Trash {
    // GLib keeps the text.
    let data = unsafe g_get_user_data_dir().map { unsafe String(cString: $0) } ?? "/tmp"
    return Trash(home: "\(data)/Trash") { path in try moveToTrash(path) }
  }

  private nonisolated static func moveToTrash(_ path: String) throws {
    let file = unsafe file(at: path)
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(file)) }
    var error: UnsafeMutablePointer<GError>?
    guard unsafe g_file_trash(file, nil, &error) == 0 else { return }
    defer { unsafe g_error_free(error) }
    // Set by the call that failed.
    let text = unsafe error?.pointee.message.map { unsafe String(cString: $0) } ?? ""
    throw FileChangeError(path: path, detail: text)
  }

  // MARK: Other programs

  /// Lets the user choose among the programs for a kind of file, without this one, and opens a file.
  static func openWith(_ path: String, in window: Widget) {
    let programs = programs(for: path)
    guard !programs.isEmpty else {
      return Question.ask(in: window, translated("No other program opens this file"), answer: translated("Close")) {
        _ in
      }
    }
    let dialog = Widget(of: gtk_window_get_type())
    dialog.set("title", translated("Open With…"))
    let list = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 6).margins(12)
    for program in programs {
      let name = unsafe String(cString: g_app_info_get_display_name(OpaquePointer(program.object)))
      let button = Widget.button(name)
      button.on("clicked") { [weak dialog] in
        launch(program, path)
        dialog?.close()
      }
      list.add(button)
    }
    let scrolled = Widget.scrolled(list).expands()
    scrolled.minimumSize(width: 320, height: 240)
    dialog.add(scrolled)
    Dialogs.present(dialog, over: window)
  }

  /// Returns the programs for the kind of a file, without this one.
  private static func programs(for path: String) -> [GTKObject] {
    let type = unsafe ByteString(fileText: path).withCString { unsafe g_content_type_guess($0, nil, 0, nil) }
    defer { unsafe g_free(type) }
    let links = unsafe g_app_info_get_all_for_type(type)
    defer { unsafe g_list_free(links) }
    var programs: [GTKObject] = []
    var next = unsafe links
    while let here = unsafe next {
      // Each link has a program, whose reference is the caller's.
      if let data = unsafe here.pointee.data {
        let program = unsafe GTKObject(OpaquePointer(data), isOwned: true)
        let id = unsafe g_app_info_get_id(OpaquePointer(program.object)).map { unsafe String(cString: $0) }
        if id != "\(applicationID).desktop" { programs.append(program) }
      }
      unsafe next = here.pointee.next
    }
    return programs
  }

  private static func launch(_ program: GTKObject, _ path: String) {
    let file = unsafe file(at: path)
    // The list holds the file during the call.
    let files = unsafe g_list_append(nil, UnsafeMutableRawPointer(file))
    unsafe g_app_info_launch(OpaquePointer(program.object), files, nil, nil)
    unsafe g_list_free(files)
    unsafe g_object_unref(UnsafeMutableRawPointer(file))
  }

  // MARK: A folder

  private static var chooser: OpaquePointer?

  /// Lets the user choose a folder.
  static func chooseFolder(in window: Widget, _ title: String, _ chosen: @escaping @MainActor (String) -> Void) {
    let dialog = unsafe gtk_file_chooser_native_new(
      title,
      cast(window.pointer),
      GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
      nil,
      nil,
    )
    // A native dialog is kept only here.
    unsafe chooser = dialog
    unsafe connect(dialog, "response") { (answer: Int32) in
      guard let dialog = unsafe chooser else { return }
      unsafe chooser = nil
      if answer == GTK_RESPONSE_ACCEPT.rawValue, let file = unsafe gtk_file_chooser_get_file(cast(dialog)) {
        if let path = unsafe path(of: file) { chosen(path) }
        unsafe g_object_unref(UnsafeMutableRawPointer(file))
      }
      unsafe g_object_unref(UnsafeMutableRawPointer(dialog))
    }
    unsafe gtk_native_dialog_show(cast(dialog))
  }

  /// Returns the path of a file, or its URI if it has none.
  static func path(of file: OpaquePointer) -> String? {
    // The caller owns both texts.
    let text = unsafe g_file_get_path(file) ?? g_file_get_uri(file)
    defer { unsafe g_free(text) }
    return unsafe text.map { unsafe ByteString(cString: $0).fileText }
  }

  // MARK: The clipboard

  /// The type of a text; GObject's macro is not visible in Swift.
  private static let textType = unsafe g_type_from_name("gchararray")

  /// Copies pictures: as files for file managers, and as text.
  static func copy(_ items: [GalleryItem], from widget: Widget) {
    guard let provider = provider(of: items) else { return }
    // The clipboard takes a reference of its own.
    unsafe gdk_clipboard_set_content(gtk_widget_get_clipboard(widget.pointer), cast(provider.object))
  }

  /// Copies pixels, for programs that paste pictures.
  static func copy(_ bitmap: Bitmap, from widget: Widget) {
    let texture = unsafe bitmap.makeTexture()
    // The clipboard takes a reference of its own.
    unsafe gdk_clipboard_set_texture(gtk_widget_get_clipboard(widget.pointer), texture)
    unsafe g_object_unref(UnsafeMutableRawPointer(texture))
  }

  /// Lets pictures be dragged from a widget to other programs, which copy them.
  static func allowDrag(from widget: Widget, _ items: @escaping @MainActor () -> [GalleryItem]) {
    let source = unsafe gtk_drag_source_new()
    unsafe connect(source, "prepare") { (_: Double, _: Double) -> OpaquePointer? in
      dragged = provider(of: items())
      return unsafe dragged.map { unsafe OpaquePointer($0.object) }
    }
    unsafe gtk_widget_add_controller(widget.pointer, source)
  }

  /// The pictures that are being dragged, which are kept only here.
  private static var dragged: GTKObject?

  /// Returns pictures as files and as text; `nil` for none.
  private static func provider(of items: [GalleryItem]) -> GTKObject? {
    guard !items.isEmpty else { return nil }
    var providers: [UnsafeMutablePointer<GdkContentProvider>?] = unsafe []
    let files = unsafe items.compactMap { unsafe $0.path.map { unsafe file(at: $0) } }
    if unsafe !files.isEmpty {
      var pointers: [OpaquePointer?] = unsafe files
      // The list takes references of its own; the value copies the list.
      let list = unsafe gdk_file_list_new_from_array(&pointers, gsize(pointers.count))
      var value = GValue()
      unsafe g_value_init(&value, gdk_file_list_get_type())
      unsafe g_value_take_boxed(&value, UnsafeRawPointer(list))
      unsafe providers.append(gdk_content_provider_new_for_value(&value))
      unsafe g_value_unset(&value)
      unsafe files.forEach { unsafe g_object_unref(UnsafeMutableRawPointer($0)) }
    }
    var value = GValue()
    unsafe g_value_init(&value, textType)
    unsafe g_value_set_string(&value, items.map(text(of:)).joined(separator: "\n"))
    unsafe providers.append(gdk_content_provider_new_for_value(&value))
    unsafe g_value_unset(&value)
    // The union takes the providers.
    return unsafe GTKObject(gdk_content_provider_new_union(&providers, gsize(providers.count)), isOwned: true)
  }

  /// The text that stands for a picture: a path with bytes that are no text as its URI.
  private static func text(of item: GalleryItem) -> String {
    if let path = item.path, path.hasPrivateBytes { path.fileURI } else { item.id.text }
  }

  private final class Reader {
    let received: @MainActor ([String]) -> Void

    init(_ received: @escaping @MainActor ([String]) -> Void) { self.received = received }
  }

  /// Reads the files on the clipboard, or the places that its text names.
  static func paste(into widget: Widget, _ received: @escaping @MainActor ([String]) -> Void) {
    let clipboard = unsafe gtk_widget_get_clipboard(widget.pointer)
    let formats = unsafe gdk_clipboard_get_formats(clipboard)
    // Not every file manager copies its files as text, too.
    let hasFiles =
      unsafe gdk_content_formats_contain_gtype(formats, gdk_file_list_get_type()) != 0
      || gdk_content_formats_contain_mime_type(formats, "text/uri-list") != 0
    unsafe gdk_clipboard_read_value_async(
      clipboard,
      hasFiles ? gdk_file_list_get_type() : textType,
      G_PRIORITY_DEFAULT,
      nil,
      { clipboard, result, reader in
        guard let reader = unsafe reader else { return }
        // Retained for this one call.
        let body = unsafe Unmanaged<Reader>.fromOpaque(reader).takeRetainedValue()
        let board = unsafe clipboard.map { OpaquePointer($0) }
        // The clipboard keeps the value for the call, on the main thread, which this is.
        nonisolated(unsafe) let value = unsafe gdk_clipboard_read_value_finish(board, result, nil)
        MainActor.assumeIsolated {
          let places = unsafe Desktop.places(in: value)
          if !places.isEmpty { body.received(places) }
        }
      },
      Unmanaged.passRetained(Reader(received)).toOpaque(),
    )
  }

  // MARK: Dropping

  /// Takes files and text that are dropped on a widget.
  static func acceptDrops(on widget: Widget, _ received: @escaping @MainActor ([String]) -> Void) {
    let target = unsafe gtk_drop_target_new(gdk_file_list_get_type(), GDK_ACTION_COPY)
    var types = [gdk_file_list_get_type(), textType]
    unsafe gtk_drop_target_set_gtypes(target, &types, gsize(types.count))
    unsafe connect(target, "drop") { (value: UnsafeMutablePointer<GValue>?, _: Double, _: Double) -> Bool in
      let places = unsafe places(in: UnsafePointer(value))
      if !places.isEmpty { received(places) }
      return !places.isEmpty
    }
    unsafe gtk_widget_add_controller(widget.pointer, target)
  }

  private static func places(in value: UnsafePointer<GValue>?) -> [String] {
    guard let value = unsafe value else { return [] }
    if unsafe value.pointee.g_type == textType {
      let text = unsafe g_value_get_string(value).map { unsafe String(cString: $0) } ?? ""
      return PastedText.lines(in: text)
    }
    guard let list = unsafe g_value_get_boxed(value) else { return [] }
    // The list of the value is of this type; the caller owns the links, but not the files.
    let link = unsafe gdk_file_list_get_files(OpaquePointer(list))
    defer { unsafe g_slist_free(link) }
    var paths: [String] = []
    var next = unsafe link
    while let here = unsafe next {
      if let file = unsafe here.pointee.data, let path = unsafe path(of: OpaquePointer(file)) { paths.append(path) }
      unsafe next = here.pointee.next
    }
    return paths
  }
}
