/// The pixels' form in a PNG file: colour type and depth (W3C PNG, third edition, 11.2.1).
enum PNGLayout {
  /// Whole bytes: 1 component (grey), 2 (grey and alpha), 3 (colour) or 4 (colour and alpha).
  case direct(components: Int)
  /// Grey of 1, 2 or 4 bits.
  case shallow(bits: Int)
  /// Indices of 1, 2, 4 or 8 bits.
  case indexed(PNGPalette)

  var colorType: UInt8 {
    switch self {
    case .direct(1), .shallow: 0
    case .direct(2): 4
    case .direct(3): 2
    case .direct: 6
    case .indexed: 3
    }
  }

  /// A Boolean value that indicates whether red, green and blue are told apart.
  var isColored: Bool { colorType & 2 != 0 }

  /// The number of bits of a component.
  var depth: Int {
    switch self {
    case .direct: 8
    case .shallow(let bits): bits
    case .indexed(let palette): palette.bits
    }
  }

  /// The number of bytes of a row, with the one that names its filter.
  func bytesPerRow(width: Int) -> Int {
    guard case .direct(let components) = self else { return 1 + (width * depth + 7) / 8 }
    return 1 + width * components
  }
}

/// The colours of a picture, as far as the choice of a layout needs them.
struct PNGColors {
  /// The colours; `nil` if there are more than 256.
  let palette: PNGPalette?
  /// A Boolean value that indicates whether red, green and blue are the same everywhere.
  let isGray: Bool
  private let isOpaque: Bool

  /// Reads the pixels until it is clear that they are in colour, and of more than 256.
  ///
  /// A photograph's first row shows that.
  init(_ bitmap: Bitmap, _ input: EncoderInput) throws(ImageError) {
    var colors = PNGPalette.Table()
    let isOpaque = bitmap.alpha == .opaque
    // Always 255, but only the code that filled the bitmap promises that, and each colour must be found again.
    let ignored: UInt32 = isOpaque ? 0xFF00_0000 : 0
    var (isGray, hasPalette, last) = (true, true, nil as UInt32?)
    let stop = try bitmap.withElements { (bytes) throws(ImageError) in
      for y in 0..<bitmap.height {
        if y % 64 == 0 { try input.checkCancellation() }
        for x in 0..<bitmap.width {
          let stored = bytes.load(at: y &* bitmap.bytesPerRow &+ x &* 4, as: UInt32.self)
          let pixel = UInt32(littleEndian: stored) | ignored
          if pixel == last { continue }
          last = pixel
          if isGray, (pixel ^ pixel >> 8) & 0xFFFF != 0 { isGray = false }
          if hasPalette { hasPalette = colors.insert(pixel) }
          if !isGray, !hasPalette { return true }
        }
      }
      return false
    }
    self.isOpaque = isOpaque
    self.isGray = isGray && !stop
    palette = hasPalette ? PNGPalette(colors) : nil
  }

  /// Whole bytes, as few as have all components.
  var direct: PNGLayout { .direct(components: (isGray ? 1 : 3) + (isOpaque ? 0 : 1)) }

  /// The layouts that may be the smallest, the most probable first.
  var layouts: [PNGLayout] {
    guard let palette else { return [direct] }
    if isOpaque, isGray {
      let bits = palette.grayBits
      // Fewer bits need a palette if the levels are not evenly spaced.
      return bits < 8 ? [.shallow(bits: bits)] : palette.bits < 8 ? [.indexed(palette), direct] : [direct]
    }
    return [.indexed(palette), direct]
  }
}

/// Up to 256 colours, and the index of each.
struct PNGPalette {
  /// The colours: red, green, blue and alpha from the lowest byte up.
  ///
  /// Translucent ones come first: only they need an entry in `tRNS`.
  let colors: [UInt32]
  /// The number of colours that are not opaque.
  let translucentCount: Int
  private let table: Table

  init(_ table: Table) {
    let translucent = table.colors.filter { $0 >> 24 != 255 }
    colors = translucent + table.colors.filter { $0 >> 24 == 255 }
    translucentCount = translucent.count
    self.table = Table(colors)
  }

  /// The number of bits of an index.
  var bits: Int { colors.count <= 2 ? 1 : colors.count <= 4 ? 2 : colors.count <= 16 ? 4 : 8 }

  /// The number of bits that evenly spaced grey levels need.
  var grayBits: Int {
    [(1, 255), (2, 85), (4, 17)].first { step in colors.allSatisfy { ($0 & 0xFF) % UInt32(step.1) == 0 } }?.0 ?? 8
  }

  /// Returns the index of a colour that is in the palette.
  func index(of color: UInt32) -> UInt8 { table.index(of: color) }

  /// A hash table with open addressing.
  struct Table {
    private static let mask = 1023
    private(set) var colors: [UInt32] = []
    /// For each slot the index of its colour, plus 1.
    private var slots = [UInt16](repeating: 0, count: mask + 1)

    init(_ colors: [UInt32] = []) { for color in colors { _ = insert(color) } }

    /// Returns `false` if there is no room for a new colour.
    mutating func insert(_ color: UInt32) -> Bool {
      var slot = Self.slot(color)
      while slots[slot] != 0 {
        if colors[Int(slots[slot]) - 1] == color { return true }
        slot = (slot + 1) & Self.mask
      }
      guard colors.count < 256 else { return false }
      colors.append(color)
      slots[slot] = UInt16(colors.count)
      return true
    }

    func index(of color: UInt32) -> UInt8 {
      var slot = Self.slot(color)
      while slots[slot] != 0 {
        if colors[Int(slots[slot]) - 1] == color { return UInt8(truncatingIfNeeded: slots[slot] - 1) }
        slot = (slot + 1) & Self.mask
      }
      return 0
    }

    private static func slot(_ color: UInt32) -> Int { Int(truncatingIfNeeded: (color &* 0x9E37_79B1) &>> 22) }
  }
}
