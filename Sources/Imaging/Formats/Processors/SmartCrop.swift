import VitrineRuntime

extension ImageProcessor {
  /// The measure of how much a part of an image shows.
  public enum Interest: String, Hashable, Sendable, CaseIterable {
    /// Faces and other ``ImageContainer/subjects``, then edges, skin and strong colours, which count more near the centre.
    case attention
    /// The strength of edges: prefers what is sharp and detailed.
    case edges
    /// The entropy of the gray levels: prefers what is varied.
    case entropy
  }
}

extension Bitmap {
  /// The longer side at which an image is searched.
  private static let searchedSide = 96

  /// Returns the part of at most `width` x `height` pixels that shows the most.
  ///
  /// Of equal parts, the one closest to the centre is taken.
  func part(
    width: Int,
    height: Int,
    _ interest: ImageProcessor.Interest,
    _ context: ProcessingContext,
  ) throws(ImageError) -> PixelRegion {
    let (width, height) = (min(width, self.width), min(height, self.height))
    guard width > 0, height > 0, width < self.width || height < self.height else {
      // The whole, or an empty part, which is rejected where it is cropped.
      return PixelRegion(x: 0, y: 0, width: width, height: height)
    }
    let small = try resized(
      to: .pixels(Double(Self.searchedSide)),
      filter: .box,
      limits: context.limits,
      isCancelled: context.isCancelled,
    )
    let map =
      switch interest {
      case .attention: InterestMap(attentionIn: small)
      case .edges, .entropy: InterestMap(edgesIn: GrayBitmap(small, over: 128))
      }
    let (scaleX, scaleY) = (Double(small.width) / Double(self.width), Double(small.height) / Double(self.height))
    let part = (width: Self.cells(width, scaleX, small.width), height: Self.cells(height, scaleY, small.height))
    let best =
      switch interest {
      case .attention:
        try map.best(part, context, by: SubjectScore(context.subjects, map, part)?.amount ?? map.amount(of: part))
      case .edges: try map.best(part, context, by: map.amount(of: part))
      // A twelfth of the way at a time, since every start would take too long.
      case .entropy: try map.best(part, context, steps: 12) { map.entropy($0, $1, part) }
      }
    // The share of the rest, so that both ends are reached exactly.
    func start(_ cell: Int, _ cells: Int, _ pixels: Int) -> Int {
      cells > 0 ? Int((Double(cell) / Double(cells) * Double(pixels)).rounded()) : pixels / 2
    }
    return PixelRegion(
      x: start(best.x, small.width - part.width, self.width - width),
      y: start(best.y, small.height - part.height, self.height - height),
      width: width,
      height: height,
    )
  }

  private static func cells(_ length: Int, _ scale: Double, _ limit: Int) -> Int {
    min(limit, max(1, Int((Double(length) * scale).rounded())))
  }
}

/// The interest of each cell of a small image, as sums.
private struct InterestMap {
  /// The amount of interest of a part that starts at a cell.
  typealias Amount = (_ x: Int, _ y: Int) -> Double

  let width: Int
  let height: Int
  private let levels: [UInt8]
  /// The sum of the interest above and to the left of each corner of a cell.
  private var sums: [Int]

  /// Makes a map of edges.
  init(edgesIn gray: GrayBitmap) {
    let levels = Self.levels(of: gray)
    self.init(levels, width: gray.width, height: gray.height) { _, _, edge in edge }
  }

  /// Makes a map of edges, skin and strong colours, which count less the farther they are from the centre.
  ///
  /// The weights keep the most of the subjects of 41 photographs, which `SmartCropTests` names.
  init(attentionIn bitmap: Bitmap) {
    let (width, height) = (bitmap.width, bitmap.height)
    let levels = Self.levels(of: GrayBitmap(bitmap, over: 128))
    let colors = bitmap.straightened()
    self.init(levels, width: width, height: height) { x, y, edge in
      let color = CellColor(colors[x, y])
      let across = abs(Double(2 * x + 1) / Double(width) - 1)
      let down = abs(Double(2 * y + 1) / Double(height) - 1)
      let interest = Double(edge) + 51 * color.skin + 25.5 * color.strength
      return Int(interest * (1 - 0.8 * max(across, down) * max(across, down)) * 256)
    }
  }

  private init(_ levels: [UInt8], width: Int, height: Int, _ interest: (_ x: Int, _ y: Int, _ edge: Int) -> Int) {
    (self.width, self.height, self.levels) = (width, height, levels)
    sums = [Int](repeating: 0, count: (width + 1) * (height + 1))
    func level(_ x: Int, _ y: Int) -> Int { Int(levels[y * width + x]) }
    for y in 0..<height {
      var row = 0
      for x in 0..<width {
        let right = level(min(x + 1, width - 1), y) - level(max(x - 1, 0), y)
        let down = level(x, min(y + 1, height - 1)) - level(x, max(y - 1, 0))
        row += interest(x, y, abs(right) + abs(down))
        sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row
      }
    }
  }

  private static func levels(of gray: GrayBitmap) -> [UInt8] {
    (0..<gray.height).flatMap { y in (0..<gray.width).map { x in gray[x, y] } }
  }

  /// The interest of the whole image.
  var total: Double { Double(sums.last ?? 0) }

  /// Returns the start of the part with the largest amount.
  ///
  /// - Parameters:
  ///   - part: The size of the part, in cells.
  ///   - context: The check that stops the work.
  ///   - steps: The number of steps in which each way is searched. Defaults to one for each cell.
  ///   - amount: The amount of a part.
  /// - Returns: The cell at the top left of the part.
  /// - Throws: ``ImageError`` of code `.cancelled`.
  func best(
    _ part: (width: Int, height: Int),
    _ context: ProcessingContext,
    steps: Int = .max,
    by amount: Amount,
  ) throws(ImageError) -> (x: Int, y: Int) {
    let (lastX, lastY) = (width - part.width, height - part.height)
    var best = (x: lastX / 2, y: lastY / 2)
    var most = -Double.infinity
    var nearest = Int.max
    let columns = Self.starts(lastX, steps)
    for y in Self.starts(lastY, steps) {
      try context.checkCancellation()
      for x in columns {
        let sum = amount(x, y)
        let distance = (2 * x - lastX) * (2 * x - lastX) + (2 * y - lastY) * (2 * y - lastY)
        guard sum > most || sum == most && distance < nearest else { continue }
        (best, most, nearest) = ((x, y), sum, distance)
      }
    }
    return best
  }

  private static func starts(_ last: Int, _ steps: Int) -> [Int] {
    let starts = Array(stride(from: 0, through: last, by: max(1, last / steps)))
    return starts.last == last ? starts : starts + [last]
  }

  /// Returns the sum of the interest of each part of a size.
  func amount(of part: (width: Int, height: Int)) -> Amount {
    { x, y in
      let (top, bottom) = (y * (width + 1), (y + part.height) * (width + 1))
      return Double(sums[bottom + x + part.width] - sums[bottom + x] - sums[top + x + part.width] + sums[top + x])
    }
  }

  /// Returns Shannon's entropy of 64 classes of levels.
  func entropy(_ x: Int, _ y: Int, _ part: (width: Int, height: Int)) -> Double {
    var counts = [Int](repeating: 0, count: 64)
    for row in y..<y + part.height {
      for column in x..<x + part.width { counts[Int(levels[row * width + column]) >> 2] += 1 }
    }
    let total = Double(part.width * part.height)
    return counts.reduce(0) { sum, count in
      guard count > 0 else { return sum }
      let share = Double(count) / total
      return sum - share * log2(share)
    }
  }
}

/// The color of a cell, by its resemblance to skin and by its strength, as in smartcrop.js.
private struct CellColor {
  private let red: Double
  private let green: Double
  private let blue: Double

  /// Makes the colour of a pixel with straight alpha, over gray.
  init(_ pixel: SIMD4<UInt8>) {
    func over(_ value: UInt8) -> Double {
      let share = Double(pixel.w) / 255
      return Double(value) / 255 * share + (1 - share) * 128 / 255
    }
    (red, green, blue) = (over(pixel.x), over(pixel.y), over(pixel.z))
  }

  /// ITU-R BT.709-6, item 3.2.
  private var luma: Double { 0.2126 * red + 0.7152 * green + 0.0722 * blue }

  /// The resemblance to skin, from 0 to 1.
  var skin: Double {
    let length = (red * red + green * green + blue * blue).squareRoot()
    guard length > 0, (0.2...0.95).contains(luma) else { return 0 }
    // The direction of skin in the space of colours is nearly the same for all people.
    let (x, y, z) = (red / length - 0.78, green / length - 0.57, blue / length - 0.44)
    let likeness = 1 - (x * x + y * y + z * z).squareRoot()
    return max(0, (likeness - 0.8) / 0.2)
  }

  /// The saturation (HSL) beyond muted colours, from 0 to 1; 0 for nearly black and nearly white.
  var strength: Double {
    let (most, least) = (max(red, green, blue), min(red, green, blue))
    guard most > least, (0.05...0.9).contains(luma) else { return 0 }
    let light = (most + least) / 2
    let saturation = (most - least) / (light > 0.5 ? 2 - most - least : most + least)
    return max(0, (saturation - 0.4) / 0.6)
  }
}

/// The amount of interest of parts of an image whose subjects are known.
private struct SubjectScore {
  /// A subject with its surroundings, in cells.
  private struct Area {
    let left: Double
    let top: Double
    let right: Double
    let bottom: Double
    let weight: Double

    var center: (x: Double, y: Double) { ((left + right) / 2, (top + bottom) / 2) }

    /// The share of the area within a part.
    func share(_ x: Double, _ y: Double, _ part: (width: Int, height: Int)) -> Double {
      let across = min(right, x + Double(part.width)) - max(left, x)
      let down = min(bottom, y + Double(part.height)) - max(top, y)
      return across > 0 && down > 0 ? across * down / ((right - left) * (bottom - top)) : 0
    }
  }

  /// The maximum number of subjects that count: the largest.
  private static let limit = 16

  let amount: InterestMap.Amount

  /// Returns `nil` if there are no subjects.
  init?(_ subjects: [SubjectRegion], _ map: InterestMap, _ part: (width: Int, height: Int)) {
    let (width, height) = (Double(map.width), Double(map.height))
    let largest = subjects.compactMap(\.clamped).sorted { $0.width * $0.height > $1.width * $1.height }
    let areas = largest.prefix(Self.limit).map { subject in
      // A face has hair above it, and a body below.
      let (side, above, below) = subject.kind == .subject ? (0, 0, 0) : (0.25, 0.35, 0.5)
      return Area(
        left: max(0, (subject.x - side * subject.width) * width),
        top: max(0, (subject.y - above * subject.height) * height),
        right: min(width, (subject.x + (1 + side) * subject.width) * width),
        bottom: min(height, (subject.y + (1 + below) * subject.height) * height),
        weight: (subject.width * subject.height).squareRoot() * (subject.kind == .face ? 2 : 1),
      )
    }
    let weight = areas.reduce(0) { $0 + $1.weight }
    guard weight > 0 else { return nil }
    let center = areas.reduce((x: 0.0, y: 0.0)) { sum, area in
      (sum.x + area.center.x * area.weight / weight, sum.y + area.center.y * area.weight / weight)
    }
    let interest = map.amount(of: part)
    let total = max(map.total, 1)
    amount = { column, row in
      let (x, y) = (Double(column), Double(row))
      let shown = areas.reduce(0) { $0 + $1.weight * $1.share(x, y, part) } / weight
      let (across, down) = (
        (x + Double(part.width) / 2 - center.x) / width, (y + Double(part.height) / 2 - center.y) / height,
      )
      // First of all, subjects are whole; then they are in the middle, where that shows no less.
      return 4 * shown - (across * across + down * down).squareRoot() + interest(column, row) / total
    }
  }
}
