import VitrineRuntime

/// Rows of a JPEG file at an eighth of its size, or of a progressive one at a quarter, decoded from as little of the
/// file as possible.
///
/// At an eighth a pixel is the mean of the 64 pixels it stands for, which is a block's DC coefficient. With chroma at
/// half resolution it is a cell of a block, computed from some AC coefficients. All others are skipped; libjpeg spends
/// nearly three quarters of its time on them. Baseline and 4:2:0 files give the same bits as libjpeg. Files with
/// chroma halved along one axis, or quartered, look better than with libjpeg, which repeats samples there.
///
/// At a quarter a pixel is a cell of a block, too. libjpeg would hold all coefficients of a progressive file, two bytes
/// each; here those of one component are added up as they come, which takes a third of that.
///
/// Means of linear light, too, can be made of a baseline file at an eighth (``BlockLight``).
///
/// If the data are damaged or end too early, libjpeg takes over from the same row.
package final class ReducedRows: RowSource {
  package let width: Int
  package let height: Int
  package let extentWidth: Double
  package let extentHeight: Double
  package var hasAlpha: Bool { false }
  package var isAveraged: Bool { true }
  package var damage: ImageError? { fallback?.damage ?? incompleteness }

  /// True if libjpeg has taken over.
  package var hasFallenBack: Bool { fallback != nil }

  private let script: JPEGScript
  private let bytes: Elements<UInt8>
  private let request: RowRequest
  private let averagesLight: Bool
  private let openFallback: () throws(ImageError) -> any RowSource
  /// The reason why a preview is incomplete.
  private let incompleteness: ImageError?
  private var fallback: (any RowSource)?
  private var baseline: BaselineScan?
  private var planes: [SamplePlane] = []
  /// The rows of the image that the planes hold.
  private var held = 0..<0
  private var row = 0

  /// Makes the rows of `bytes`, which must outlive the object.
  ///
  /// `fallback` opens them with libjpeg at the scale of the script's frame.
  init(
    _ bytes: Elements<UInt8>,
    _ script: JPEGScript,
    _ request: RowRequest,
    averagesLight: Bool = false,
    incompleteness: ImageError? = nil,
    fallback: @escaping () throws(ImageError) -> any RowSource,
  ) {
    self.bytes = bytes
    self.script = script
    self.request = request
    self.averagesLight = averagesLight
    self.incompleteness = incompleteness
    openFallback = fallback
    let eighths = script.frame.eighths
    width = JPEGFrame.divided(script.frame.width * eighths, by: 8)
    height = JPEGFrame.divided(script.frame.height * eighths, by: 8)
    extentWidth = Double(script.frame.width * eighths) / 8
    extentHeight = Double(script.frame.height * eighths) / 8
  }

  package func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    precondition(rows.count >= bytesPerRow * (count - 1) + width * 4)
    if let fallback { return try unsafe fallback.read(into: rows, bytesPerRow: bytesPerRow, count: count) }
    guard row < height else { return 0 }
    if row == held.upperBound {
      guard try decode() else { return try unsafe fallBack(into: rows, bytesPerRow: bytesPerRow, count: count) }
    }
    let target = unsafe MutableElements(rows)
    let got = min(count, min(height, held.upperBound) - row)
    for index in 0..<got {
      let start = index * bytesPerRow
      write(row + index - held.lowerBound, into: target.extracting(start..<start + width * 4))
    }
    row += got
    return got
  }

  /// Decodes the next rows into the planes.
  ///
  /// Returns `false` if the data do not contain them.
  private func decode() throws(ImageError) -> Bool {
    if script.frame.isProgressive {
      let decoder = ProgressiveDecoder(bytes, script, request.control)
      guard let planes = try decoder.decode() else { return false }
      self.planes = planes
      held = 0..<height
      return true
    }
    if baseline == nil {
      baseline = BaselineScan(bytes, script, measuresDeviations: averagesLight)
      planes = baseline?.bands ?? []
    }
    guard let baseline, baseline.decodeBand() else { return false }
    held = held.upperBound..<held.upperBound + script.frame.unitRows
    return true
  }

  private func fallBack(
    into rows: UnsafeMutableRawBufferPointer,
    bytesPerRow: Int,
    count: Int,
  ) throws(ImageError) -> Int {
    baseline = nil
    planes = []
    let source = try openFallback()
    fallback = source
    guard source.width == width, source.height == height else {
      throw ImageError(.corrupt, format: .jpeg, "corrupt: two frame headers disagree")
    }
    var passed = 0
    while passed < row {
      try request.control.check()
      let got = try unsafe source.read(into: rows, bytesPerRow: bytesPerRow, count: min(count, row - passed))
      guard got > 0 else { return 0 }
      passed += got
    }
    return try unsafe source.read(into: rows, bytesPerRow: bytesPerRow, count: count)
  }

  private func write(_ index: Int, into target: MutableElements<UInt8>) {
    switch script.color {
    case .grey: CellColors.writeGrey(planes[0].row(index), into: target)
    case .rgb: CellColors.writeRGB(planes[0].row(index), planes[1].row(index), planes[2].row(index), into: target)
    case .ycc: CellColors.writeYCC(planes[0].row(index), planes[1].row(index), planes[2].row(index), into: target)
    }
    if let deviations = baseline?.deviations {
      BlockLight.brighten(target, luma: planes[0].row(index), deviations: deviations.row(index))
    }
  }
}
