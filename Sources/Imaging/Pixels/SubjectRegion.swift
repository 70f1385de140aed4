/// A part of a picture that shows its subject, such as a face, by a camera, a photo manager or a detector.
///
/// All lengths are fractions of the sides of the upright picture, from the top left.
public struct SubjectRegion: Sendable, Hashable {
  /// The kind of a subject.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The face of a person.
    case face
    /// An animal.
    case pet
    /// The main subject, or the place on which the camera focused.
    case subject
  }

  /// The kind.
  public var kind: Kind
  /// The left edge, as a fraction of the picture's width.
  public var x: Double
  /// The top edge, as a fraction of the picture's height.
  public var y: Double
  /// The width, as a fraction of the picture's.
  public var width: Double
  /// The height, as a fraction of the picture's.
  public var height: Double

  /// Makes a region.
  public init(_ kind: Kind, x: Double, y: Double, width: Double, height: Double) {
    (self.kind, self.x, self.y, self.width, self.height) = (kind, x, y, width, height)
  }

  /// The part within the picture; `nil` if there is none, or a number is not finite.
  var clamped: SubjectRegion? {
    guard [x, y, width, height].allSatisfy(\.isFinite) else { return nil }
    var result = self
    (result.x, result.y) = (min(max(x, 0), 1), min(max(y, 0), 1))
    result.width = min(max(x + width, 0), 1) - result.x
    result.height = min(max(y + height, 0), 1) - result.y
    return result.width > 0 && result.height > 0 ? result : nil
  }

  /// Returns the region of the upright picture that is this one of the stored picture.
  func upright(_ orientation: Orientation) -> SubjectRegion {
    var result = self
    if orientation.mirrorsStoredColumns { result.x = 1 - x - width }
    if orientation.mirrorsStoredRows { result.y = 1 - y - height }
    guard orientation.swapsAxes else { return result }
    return SubjectRegion(kind, x: result.y, y: result.x, width: height, height: width)
  }

  /// Returns the region within a part of the picture; `nil` if nothing of it is there.
  func within(_ part: PixelRect, of size: (width: Int, height: Int)) -> SubjectRegion? {
    let (width, height) = (Double(size.width), Double(size.height))
    guard part.width > 0, part.height > 0 else { return nil }
    return SubjectRegion(
      kind,
      x: (x * width - part.x) / part.width,
      y: (y * height - part.y) / part.height,
      width: self.width * width / part.width,
      height: self.height * height / part.height,
    ).clamped
  }
}

extension [SubjectRegion] {
  /// Returns the regions within the part of a picture that a plan shows.
  package func showing(_ plan: SamplingPlan, of size: (width: Int, height: Int)) -> [SubjectRegion] {
    compactMap { $0.within(plan.crop, of: size) }
  }
}

// MARK: - Text

extension [SubjectRegion] {
  /// The regions in one line, without line breaks; empty for none.
  package var line: String {
    map { "\($0.kind.rawValue) \($0.x) \($0.y) \($0.width) \($0.height)" }.joined(separator: ";")
  }

  /// Reads a ``line``; returns `nil` for any other text.
  package init?(line: String) {
    self = []
    for part in line.split(separator: ";") {
      let words = part.split(separator: " ")
      let numbers = words.dropFirst().compactMap { Double($0) }
      guard words.count == 5, numbers.count == 4, let kind = SubjectRegion.Kind(rawValue: String(words[0])),
        let region = SubjectRegion(kind, x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3]).clamped
      else { return nil }
      append(region)
    }
  }
}
