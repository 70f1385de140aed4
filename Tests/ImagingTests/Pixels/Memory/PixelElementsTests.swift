import Testing

@testable import VitrineImaging

struct PixelElementsTests {
  /// Bytes that are their own index.
  static func numbered(_ count: Int) -> OwnedElements<UInt8> {
    let owner = OwnedElements<UInt8>(repeating: 0, count: count)
    for index in 0..<count { owner.elements[index] = UInt8(index) }
    return owner
  }

  @Test(arguments: [0, 4, 12, 16, 20, 36, 64])
  func everyElementIsReplacedOnce(count: Int) {
    let (source, target) = (Self.numbered(count), OwnedElements<UInt32>(repeating: 1000, count: count))
    for element in 0..<count { target.elements[element] += UInt32(element) }

    target.elements.update(with: source.elements.elements) { bytes, old in
      old &+ SIMD16<UInt32>(truncatingIfNeeded: bytes)
    } four: { bytes, old in
      old &+ SIMD4<UInt32>(truncatingIfNeeded: bytes)
    }
    #expect(target.elements.indices.allSatisfy { target.elements[$0] == 1000 + 2 * UInt32($0) })
    target.elements.update(with: source.elements.elements) { bytes, old in
      old &- SIMD4<UInt32>(truncatingIfNeeded: bytes)
    }
    #expect(target.elements.indices.allSatisfy { target.elements[$0] == 1000 + UInt32($0) })
    source.elements.updateEachPixel { pixel in SIMD4(pixel.y, pixel.x, pixel.w, pixel.z) }
    #expect(source.elements.indices.allSatisfy { source.elements[$0] == UInt8($0 ^ 1) })
  }

  @Test
  func rowsAndNumbersAreWhereTheySay() {
    let owner = Self.numbered(48)
    let rows = owner.elements.rows(from: 1, count: 2, width: 3)
    #expect(rows.count == 24 && rows[0] == 12 && rows.elements.rows(from: 1, count: 1, width: 3)[0] == 24)
    #expect(UInt32(littleEndian: rows.elements.load(at: 1, as: UInt32.self)) == 0x100F_0E0D)
    rows.store(UInt16(0x0102).littleEndian, at: 22)
    #expect(owner.elements[34] == 2 && owner.elements[35] == 1 && owner.elements[36] == 36)
    let mirrored = OwnedElements<UInt8>(repeating: 0, count: 8)
    mirrored.elements.update(of: owner.elements.elements, from: 2, step: -1, as: UInt32.self)
    #expect((0..<8).map { mirrored.elements[$0] } == [8, 9, 10, 11, 4, 5, 6, 7])
    mirrored.elements.update(of: owner.elements.elements, from: 5, step: 6, as: UInt8.self)
    #expect((0..<8).map { mirrored.elements[$0] } == [5, 11, 17, 23, 29, 1, 41, 47])
    let numbers = OwnedElements<UInt32>(repeating: 0, count: 2)
    numbers.elements.update(numbers: owner.elements.elements.extracting(0..<8)) { $0 + 1 }
    #expect(numbers.elements[0] == 0x0302_0101 && numbers.elements[1] == 0x0706_0505)
    var sum = SIMD4<UInt8>()
    owner.elements.elements.forEachFour(in: 4..<12) { sum &+= $0 }
    #expect(sum == SIMD4(12, 14, 16, 18))
    withExtendedLifetime(owner) {}
  }

  /// What lies outside, or beyond the shorter of two, stops the program, in every build.
  @Test(arguments: 0..<12)
  func stopsOutsideOfItsBounds(_ place: Int) async {
    await #expect(processExitsWith: .failure) { [place = place as Int] in
      let (owner, few) = (Self.numbered(20), OwnedElements<Float>(repeating: 0, count: 16))
      let all = owner.elements
      switch place {
      case 0: _ = all.rows(from: 1, count: 2, width: 2)
      case 1: _ = all.elements.load(at: 17, as: UInt32.self)
      case 2: _ = all.elements.load(at: -1, as: UInt16.self)
      case 3: all.store(UInt64(0), at: 13)
      case 4: few.elements.update(with: all.elements) { pixel, _ in SIMD4<Float>(pixel) }
      case 5: all.extracting(0..<18).updateEachPixel { $0 }
      case 6: all.elements.forEachFour(in: 16..<24) { _ in }
      case 7: all.extracting(0..<8).update(of: all.elements, from: 4, step: 1, as: UInt32.self)
      case 8: all.extracting(0..<8).update(of: all.elements, from: 0, step: -1, as: UInt32.self)
      case 9: all.extracting(0..<8).update(of: all.elements, from: -1, step: 2, as: UInt32.self)
      case 10: OwnedElements<UInt32>(repeating: 0, count: 4).elements.update(numbers: all.elements) { $0 }
      default: all.elements.forEachFour(in: 0..<6) { _ in }
      }
      withExtendedLifetime((owner, few)) {}
    }
  }
}
