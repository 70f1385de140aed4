import CGTK
import CVitrineGTK
import VitrineRuntime

/// The texts of the gallery in the language of the desktop, by gettext.
///
/// `make check NAME=translations` compiles the texts of `Sources/Gallery/Translations`.
enum Translation {
  static let domain = "vitrine-gallery"

  /// Looks for the translations beside the program: in `../share/locale` of an installed one, or in the build folder.
  @MainActor
  static func begin() {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let folder = parent(of: program)
    let places = ["\(parent(of: folder))/share/locale", "\(folder)/locale", "\(parent(of: parent(of: folder)))/locale"]
    guard let place = places.first(where: { FileManager.default.fileExists(atPath: $0) }) else { return }
    unsafe vitrine_gtk_bind_translations(domain, place)
  }

  private static func parent(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? path
  }

  /// Replaces each `%s`, one after the other.
  static func fill(_ text: String, _ values: [String]) -> String {
    var (result, rest) = ("", text[...])
    for value in values {
      guard let place = rest.firstRange(of: "%s") else { break }
      result += rest[..<place.lowerBound] + value
      rest = rest[place.upperBound...]
    }
    return result + rest
  }
}

/// Returns a text in the language of the desktop, with values in place of its `%s`.
func translated(_ text: String, _ values: String...) -> String {
  // Without a translation, the result is the argument itself, which lives as long as the closure runs.
  let found = unsafe text.withCString { text in unsafe string(g_dgettext(Translation.domain, text)) }
  return Translation.fill(found ?? text, values)
}

/// Returns a text for one or many, with the number in place of its `%s`.
func translated(_ one: String, many: String, _ count: Int) -> String {
  let found = unsafe one.withCString { one in
    unsafe many.withCString { many in unsafe string(g_dngettext(Translation.domain, one, many, gulong(count))) }
  }
  return Translation.fill(found ?? many, ["\(count)"])
}

private func string(_ text: UnsafePointer<gchar>?) -> String? {
  unsafe text.map { unsafe String(cString: $0) }
}
