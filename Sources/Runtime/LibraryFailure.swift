/// The failure to open a shared library.
package struct LibraryFailure: Hashable, Sendable, CustomStringConvertible {
  /// The reason in the words of `dlerror`, which begin with the file of the library.
  package let reason: String

  package init(_ reason: String) { self.reason = reason }

  /// The Debian package of the library; `nil` if the reason names no library.
  ///
  /// It has the name of the file, by Debian's rule (Policy Manual, section 8.1): of `libavif.so.15` it is `libavif15`, and
  /// of `librsvg-2.so.2`, whose name ends in a digit, `librsvg2-2`.
  package var debianPackage: String? {
    let file = reason.prefix { $0 != ":" }.split(separator: "/").last ?? ""
    guard let mark = file.firstRange(of: ".so.") else { return nil }
    let (name, version) = (file[..<mark.lowerBound].filter { $0 != "-" }, file[mark.upperBound...])
    return "\(name)\(name.last?.isNumber == true ? "-" : "")\(version)"
  }

  /// The reason, and the package that brings the library.
  package var description: String { reason + (debianPackage.map { " (in Debian it is the package \($0))" } ?? "") }
}
