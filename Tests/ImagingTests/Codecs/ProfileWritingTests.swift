import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The profile that is written with pixels in Display P3.
struct ProfileWritingTests {
  static func color(_ x: Int, _ y: Int) -> SIMD4<UInt8> {
    SIMD4(UInt8(x * 5), UInt8(y * 5), UInt8((x + y) * 255 / 94), 255)
  }

  static let wide = unsafe Bitmap(width: 48, height: 48, alpha: .opaque, colorSpace: .displayP3) { bytes in
    for y in 0..<48 {
      for x in 0..<48 {
        // The buffer holds 48 rows of 48 pixels.
        unsafe bytes.storeBytes(of: color(x, y), toByteOffset: (y * 48 + x) * 4, as: SIMD4<UInt8>.self)
      }
    }
  }

  static func bytes() throws -> [UInt8] {
    let profile = try #require(ColorSpace.displayP3.profile)
    return Array(profile.data)
  }

  @Test
  func sRGBNeedsNone() {
    #expect(ColorSpace.sRGB.profile == nil)
  }

  @Test
  func theProfileIsSmallAndNamed() throws {
    let profile = try #require(ColorSpace.displayP3.profile)

    #expect(profile.name == "Display P3")
    #expect(profile.data.count < 560)
    // The length that it says, which is a multiple of four.
    #expect(Array(profile.data.prefix(4)) == .big32(profile.data.count))
    #expect(profile.data.count % 4 == 0)
  }

  @Test
  func theColumnsAddUpToTheWhite() throws {
    let data = try Self.bytes()
    func column(_ name: String) throws -> [Int] {
      let place = try #require(data.indices.first { data[$0...].starts(with: name.utf8) })
      func number(_ offset: Int) -> Int { data[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
      let tag = number(place + 4)
      return [8, 12, 16].map { Int(Int32(truncatingIfNeeded: number(tag + $0))) }
    }
    let columns = try ["rXYZ", "gXYZ", "bXYZ"].map(column)

    let sum = (0..<3).map { row in columns.reduce(0) { $0 + $1[row] } }

    #expect(try sum == column("wtpt"))
    #expect(sum == [0xF6D6, 0x10000, 0xD32D])
    // As in the profile that Apple ships, to a unit or two.
    let known = [[0.51512, 0.2412, -0.00105], [0.29198, 0.69225, 0.04189], [0.1571, 0.06657, 0.78407]]
    for (own, other) in zip(columns.joined(), known.joined()) { #expect(abs(Double(own) / 65536 - other) < 0.00005) }
  }

  @Test
  func coloursComeBackThroughAFileWithTheProfile() throws {
    let profile = try Self.bytes()
    // The same numbers without their meaning, which the profile gives.
    let plain = Bitmap.pixels(width: 48, height: 48) { x, y in Self.color(x, y) }
    let file = try plain.encoded(as: .png).withPNGProfile(profile)

    let back = try decode(file) { $0.colorSpace = .displayP3 }.bitmap
    let cut = try decode(file).bitmap

    #expect(back.colorSpace == .displayP3)
    #expect(back.largestDifference(from: Self.wide) == 0)
    #expect(cut.largestDifference(from: Self.wide.converted(to: .sRGB)) <= 1)
    #expect(cut.largestDifference(from: plain) > 20)
  }
}
