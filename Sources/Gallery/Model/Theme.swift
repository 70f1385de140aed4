/// The colours of the window.
package enum Theme: String, Sendable, CaseIterable, Codable {
  /// As the desktop has them.
  case system
  case light
  case dark
}
