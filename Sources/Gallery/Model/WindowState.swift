import VitrineRuntime

/// The state of the window that is kept from one start to the next.
package struct WindowState: Sendable, Equatable, Codable {
  /// The size of the window in points, while it is neither maximised nor full screen.
  package var width = 1100
  package var height = 760
  package var isMaximized = false
  package var showsInfo = false
  /// The side of a picture in the grid, in points.
  package var cellSize = 188
  package var order = ItemOrder.name

  /// The sides that the grid has.
  package static let cellSizes = [96, 128, 188, 256, 384]

  package init() {}

  /// Reads the state from a file; a missing or damaged one, or a part that makes no sense, gives the default.
  ///
  /// Blocks.
  package init(path: String) {
    guard let data = try? FileContents.at(path), data.count < 1 << 16,
      let state = try? JSONDecoder().decode(WindowState.self, from: data)
    else { return }
    self = state
    if !(300...10_000).contains(width) || !(200...10_000).contains(height) { (width, height) = (1100, 760) }
    if !Self.cellSizes.contains(cellSize) { cellSize = 188 }
  }

  /// Writes the state to a file, whose folder is made if it is missing; blocks.
  package func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let name = ByteString(path)
    try AtomicFile.makeParents(of: name)
    try AtomicFile.replace(name, with: try encoder.encode(self))
  }
}
