import VitrineRuntime

/// An ICC profile made by hand (ICC.1:2022, chapters 7 to 10).
struct ICCFile {
  /// Four characters: `RGB `, `GRAY`, `CMYK`.
  var space: String
  /// Four characters: `XYZ ` or `Lab `.
  var connection: String
  var deviceClass = "prtr"
  var tags: [(name: String, body: [UInt8])] = []

  var bytes: [UInt8] {
    var table: [UInt8] = .big32(tags.count + 1)
    var bodies: [UInt8] = []
    let start = 128 + 4 + 12 * (tags.count + 1)
    for tag in tags + [("wtpt", Self.xyz([0.9642, 1, 0.8249]))] {
      table += .text(tag.name) + .big32(start + bodies.count) + .big32(tag.body.count)
      bodies += tag.body
      while bodies.count % 4 != 0 { bodies.append(0) }
    }
    var header = [UInt8](repeating: 0, count: 128)
    header.replaceSubrange(0..<4, with: [UInt8].big32(start + bodies.count))
    header.replaceSubrange(8..<12, with: [2, 0x40, 0, 0])
    header.replaceSubrange(12..<24, with: [UInt8].text(deviceClass + space + connection))
    header.replaceSubrange(36..<40, with: [UInt8].text("acsp"))
    header.replaceSubrange(68..<80, with: Self.xyz([0.9642, 1, 0.8249]).dropFirst(8))
    return header + table + bodies
  }

  /// Three numbers of 16 bits before the point and 16 behind it.
  static func xyz(_ values: [Double]) -> [UInt8] {
    .text("XYZ ") + .big32(0) + values.flatMap { [UInt8].big32(Int(($0 * 65536).rounded()) & 0xFFFF_FFFF) }
  }

  /// A curve that is a power.
  static func gamma(_ gamma: Double) -> [UInt8] {
    .text("curv") + .big32(0) + .big32(1) + .big16(Int((gamma * 256).rounded())) + [0, 0]
  }

  /// A curve of points, for inputs of 0 to 1.
  static func curve(_ points: [Double]) -> [UInt8] {
    .text("curv") + .big32(0) + .big32(points.count) + points.flatMap { [UInt8].big16(Int(($0 * 65535).rounded())) }
  }

  /// A table from `inputs` components of 0 to 1 to L*, a*, b*, in `grid` steps each (10.10, `lut16Type`).
  static func table(inputs: Int, grid: Int, _ color: ([Double]) -> [Double]) -> [UInt8] {
    var bytes: [UInt8] = .text("mft2") + .big32(0) + [UInt8(inputs), 3, UInt8(grid), 0]
    for index in 0..<9 { bytes += .big32(index % 4 == 0 ? 65536 : 0) }
    bytes += .big16(2) + .big16(2)
    for _ in 0..<inputs { bytes += .big16(0) + .big16(65535) }
    let count = (0..<inputs).reduce(1) { product, _ in product * grid }
    for node in 0..<count {
      // The last component changes fastest.
      var rest = node
      var place = [Double](repeating: 0, count: inputs)
      for input in (0..<inputs).reversed() {
        place[input] = Double(rest % grid) / Double(grid - 1)
        rest /= grid
      }
      let lab = color(place)
      bytes += .big16(Int((lab[0] * 652.8).rounded()))
      bytes += .big16(Int(((lab[1] + 128) * 256).rounded())) + .big16(Int(((lab[2] + 128) * 256).rounded()))
    }
    for _ in 0..<3 { bytes += .big16(0) + .big16(65535) }
    return bytes
  }

  /// L*, a*, b* of linear light in sRGB's primaries.
  static func lab(_ light: [Double]) -> [Double] {
    let matrix = [
      [0.4360747, 0.3850649, 0.1430804], [0.2225045, 0.7168786, 0.0606169], [0.0139322, 0.0971045, 0.7141733],
    ]
    let scaled = zip(matrix, [0.9642, 1, 0.8249]).map { row, white in
      let value = zip(row, light).reduce(0) { $0 + $1.0 * $1.1 } / white
      return value > 216.0 / 24389 ? pow(value, 1.0 / 3) : (24389.0 / 27 * value + 16) / 116
    }
    return [116 * scaled[1] - 16, 500 * (scaled[0] - scaled[1]), 200 * (scaled[1] - scaled[2])]
  }
}

extension ICCFile {
  /// What each ink at its full lets through of red, green and blue light.
  static let inks: [[Double]] = [[0.05, 0.30, 0.60], [0.50, 0.03, 0.15], [0.85, 0.75, 0.03], [0.03, 0.03, 0.03]]

  /// The light of inks one over the other, each covering its share of the paper.
  static func light(ofInks shares: [Double]) -> [Double] {
    (0..<3).map { color in
      zip(shares, inks).reduce(1) { $0 * (1 - $1.0 * (1 - $1.1[color])) }
    }
  }

  /// A press with these inks.
  static let press = ICCFile(
    space: "CMYK",
    connection: "Lab ",
    tags: [("A2B0", table(inputs: 4, grid: 5) { lab(light(ofInks: $0)) })],
  )
  /// Three numbers through a table: red and blue are exchanged, which no matrix of a real device does.
  static let exchanged = ICCFile(
    space: "RGB ",
    connection: "Lab ",
    deviceClass: "scnr",
    tags: [("A2B0", table(inputs: 3, grid: 17) { lab([SRGB.light($0[2]), SRGB.light($0[1]), SRGB.light($0[0])]) })],
  )
  /// Grays whose curve counts lightness instead of light: straight, but for a step.
  static let lightness = ICCFile(
    space: "GRAY",
    connection: "Lab ",
    deviceClass: "scnr",
    tags: [("kTRC", curve([0, 0.25, 0.75, 1]))],
  )
  /// Curves of 1.8 and the primaries of Display P3.
  static let wide = ICCFile(
    space: "RGB ",
    connection: "XYZ ",
    deviceClass: "mntr",
    tags: [
      ("rXYZ", xyz([0.5151187, 0.2411892, -0.0010505])), ("gXYZ", xyz([0.2919778, 0.6922441, 0.0418791])),
      ("bXYZ", xyz([0.1571035, 0.0665668, 0.7840713])), ("rTRC", gamma(1.8)), ("gTRC", gamma(1.8)),
      ("bTRC", gamma(1.8)),
    ],
  )

  static let all = [press, exchanged, lightness, wide]
}

extension Data {
  /// This JPEG file with a profile.
  func withJPEGProfile(_ profile: [UInt8]) -> Data {
    // In parts of at most 65,533 bytes less their head; nothing here has so many.
    withJPEGSegment(0xE2, .text("ICC_PROFILE\0") + [1, 1] + profile)
  }

  /// This PNG file with a profile.
  func withPNGProfile(_ profile: [UInt8]) -> Data {
    withPNGChunk("iCCP", .text("p") + [0, 0] + PNGFile.zlib(profile))
  }
}
