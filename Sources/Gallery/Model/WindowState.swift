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
  package var isReversed = false
  package var isRecursive = false
  package var theme = Theme.system
  package var interval = SlideInterval.five
  package var shuffles = false

  /// The sides that the grid has.
  package static let cellSizes = [96, 128, 188, 256, 384]

  package init() {}

  /// Reads what is there; a state of an older version has less.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    width = try values.decodeIfPresent(Int.self, forKey: .width) ?? width
    height = try values.decodeIfPresent(Int.self, forKey: .height) ?? height
    isMaximized = try values.decodeIfPresent(Bool.self, forKey: .isMaximized) ?? isMaximized
    showsInfo = try values.decodeIfPresent(Bool.self, forKey: .showsInfo) ?? showsInfo
    cellSize = try values.decodeIfPresent(Int.self, forKey: .cellSize) ?? cellSize
    order = try values.decodeIfPresent(ItemOrder.self, forKey: .order) ?? order
    isRecursive = try values.decodeIfPresent(Bool.self, forKey: .isRecursive) ?? isRecursive
    isReversed = try values.decodeIfPresent(Bool.self, forKey: .isReversed) ?? isReversed
    interval = try values.decodeIfPresent(SlideInterval.self, forKey: .interval) ?? interval
    shuffles = try values.decodeIfPresent(Bool.self, forKey: .shuffles) ?? shuffles
    theme = try values.decodeIfPresent(Theme.self, forKey: .theme) ?? theme
  }

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
