import Testing
import VitrineImaging
import VitrineRuntime

/// The orientation that HEIF's properties give an item: rotations counter-clockwise, and mirrors.
struct MediaOrientationTests {
  private enum Property: CaseIterable {
    case left, down, right, flipped, mirrored

    var box: [UInt8] {
      switch self {
      case .left: MediaOrientationTests.box("irot", [1])
      case .down: MediaOrientationTests.box("irot", [2])
      case .right: MediaOrientationTests.box("irot", [3])
      case .flipped: MediaOrientationTests.box("imir", [0])
      case .mirrored: MediaOrientationTests.box("imir", [1])
      }
    }

    var orientation: Orientation {
      switch self {
      case .left: .left
      case .down: .down
      case .right: .right
      case .flipped: .downMirrored
      case .mirrored: .upMirrored
      }
    }
  }

  @Test
  func propertiesApplyInTheOrderOfTheFile() throws {
    let sequences =
      [[]] + Property.allCases.map { [$0] }
      + Property.allCases.flatMap { first in Property.allCases.map { [first, $0] } }
      + Property.allCases.flatMap { first in Property.allCases.map { [first, $0, .mirrored] } }
    for sequence in sequences {
      let orientation = try #require(Self.orientation(of: 1, sequence.map(\.box)))

      // Where each pixel goes, a property at a time.
      for (x, y) in [(0, 0), (2, 0), (0, 1), (1, 1)] {
        var (place, size) = ((x: x, y: y), (width: 3, height: 2))
        for step in sequence.map(\.orientation) {
          place = step.upright(x: place.x, y: place.y, width: size.width, height: size.height)
          size = step.applied(width: size.width, height: size.height)
        }
        let whole = orientation.upright(x: x, y: y, width: 3, height: 2)
        #expect(whole == place, "\(sequence)")
        #expect(orientation.applied(width: 3, height: 2) == size, "\(sequence)")
      }
    }
  }

  @Test
  func aCroppedItemHasNone() {
    let crop = Self.box("clap", [UInt8](repeating: 0, count: 32))

    #expect(Self.orientation(of: 1, [crop, Property.left.box]) == nil)
  }

  @Test
  func aDerivedItemHasNone() {
    #expect(Self.orientation(of: 1, type: "iden", [Property.left.box]) == nil)
    #expect(Self.orientation(of: 1, type: "grid", [Property.left.box]) == .left)
  }

  /// Returns the orientation of an item of a file whose item 1 has properties.
  private static func orientation(of id: Int, type: String = "hvc1", _ properties: [[UInt8]]) -> Orientation? {
    let numbers = properties.indices.map { UInt8($0 + 1) }
    let associations = box("ipma", .big32(0) + .big32(1) + .big16(1) + [UInt8(properties.count)] + numbers)
    let primary = box("pitm", .big32(0) + .big16(1))
    let item = box("infe", .big32(2 << 24) + .big16(1) + .big16(0) + .text(type) + [0])
    let list = box("iinf", .big32(0) + .big16(1) + item)
    let all = box("iprp", box("ipco", properties.flatMap { $0 }) + associations)
    let file = box("meta", .big32(0) + primary + list + all)
    return Data(file).reading { ISOMediaItems($0)?.orientation(of: id) }
  }

  private static func box(_ type: String, _ body: [UInt8]) -> [UInt8] { .big32(body.count + 8) + .text(type) + body }
}
