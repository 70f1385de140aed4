import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel

/// The choice of a file to save a picture as: its name with the format, its size, its quality, and its metadata.
@MainActor
enum SaveDialog {
  /// The wishes of the user.
  struct Wish {
    let path: String
    let encoding: ImageEncoding
    /// The longest side in pixels; `nil` for all pixels.
    let longestSide: Int?
  }

  private static var dialog: OpaquePointer?
  private static let sides = ["all", "4096", "2048", "1024", "512"]
  private static let qualities = ["95", "85", "70", "50"]

  /// Lets the user choose; nothing is called if the user cancels.
  ///
  /// - Parameters:
  ///   - window: The window below.
  ///   - name: The proposed name.
  ///   - folder: The folder that is shown first; `nil` for the system's choice.
  ///   - chosen: Called with the wishes; `nil` if the name has no ending of a format that can be written.
  static func choose(in window: Widget, name: String, folder: String?, _ chosen: @escaping @MainActor (Wish?) -> Void) {
    let new = unsafe gtk_file_chooser_native_new(
      translated("Save As"),
      cast(window.pointer),
      GTK_FILE_CHOOSER_ACTION_SAVE,
      nil,
      nil,
    )
    // A native dialog is kept only here.
    unsafe dialog = new
    let chooser: OpaquePointer? = unsafe cast(new)
    unsafe gtk_file_chooser_set_current_name(chooser, name)
    if let folder = unsafe folder.flatMap({ unsafe Desktop.file(at: $0) }) {
      unsafe gtk_file_chooser_set_current_folder(chooser, folder, nil)
      unsafe g_object_unref(UnsafeMutableRawPointer(folder))
    }
    // Without a filter of its own, GTK offers an empty one.
    let filter = unsafe gtk_file_filter_new()
    unsafe gtk_file_filter_set_name(filter, translated("Pictures"))
    for ending in ImageFormat.written.flatMap(\.fileExtensions) { unsafe gtk_file_filter_add_suffix(filter, ending) }
    // The dialog takes a reference of its own.
    unsafe gtk_file_chooser_add_filter(chooser, filter)
    unsafe g_object_unref(UnsafeMutableRawPointer(filter))
    unsafe add("size", translated("Longest side"), sides, to: chooser) {
      $0 == "all" ? translated("All pixels") : "\($0) px"
    }
    unsafe add("quality", translated("Quality"), qualities, to: chooser) { $0 }
    unsafe gtk_file_chooser_add_choice(chooser, "metadata", translated("Keep camera, date and place"), nil, nil)
    unsafe gtk_file_chooser_set_choice(chooser, "metadata", "true")
    unsafe connect(new, "response") { (answer: Int32) in
      guard let new = unsafe dialog else { return }
      unsafe dialog = nil
      if answer == GTK_RESPONSE_ACCEPT.rawValue { unsafe chosen(wish(cast(new))) }
      unsafe g_object_unref(UnsafeMutableRawPointer(new))
    }
    unsafe gtk_native_dialog_show(cast(new))
  }

  /// Adds a choice of one of several options, of which the first is chosen.
  private static func add(
    _ id: String,
    _ title: String,
    _ options: [String],
    to chooser: OpaquePointer?,
    _ name: (String) -> String,
  ) {
    // GTK copies all texts.
    let texts = unsafe (options + options.map(name)).map { unsafe strdup($0) }
    defer { unsafe texts.forEach { unsafe free($0) } }
    var ids = unsafe texts.prefix(options.count).map { unsafe UnsafePointer($0) } + [nil]
    var names = unsafe texts.suffix(options.count).map { unsafe UnsafePointer($0) } + [nil]
    unsafe gtk_file_chooser_add_choice(chooser, id, title, &ids, &names)
    unsafe gtk_file_chooser_set_choice(chooser, id, options[0])
  }

  private static func wish(_ chooser: OpaquePointer?) -> Wish? {
    guard let file = unsafe gtk_file_chooser_get_file(chooser) else { return nil }
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(file)) }
    guard let path = unsafe Desktop.path(of: file) else { return nil }
    func choice(_ id: String) -> String {
      // GTK keeps the text.
      unsafe gtk_file_chooser_get_choice(chooser, id).map { unsafe String(cString: $0) } ?? ""
    }
    let ending = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
    guard let format = ImageFormat.written.first(where: { $0.fileExtensions.contains(ending) }) else {
      return nil
    }
    let hasQuality = format.row.loss == .always || format.row.loss == .either
    var encoding = ImageEncoding(format, quality: hasQuality ? Int(choice("quality")) : nil)
    encoding.metadata = choice("metadata") == "true" ? .keep : .strip
    return Wish(path: path, encoding: encoding, longestSide: Int(choice("size")))
  }
}
