import Testing
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineCaching

struct CacheKeyTests {
  @Test
  func equalPartsMakeEqualKeys() {
    let keys = (0..<2).map { _ in
      CacheKey {
        $0.append("https://example.com/ä.jpg")
        $0.append(300)
        $0.append(true)
        $0.append(.number(0.5))
      }
    }
    #expect(keys[0] == keys[1])
    #expect(keys[0].hashValue == keys[1].hashValue)
  }

  @Test
  func listsOfPartsNeverRunTogether() {
    let lists: [[CacheKey.Part]] = [
      [], [.none], [.none, .none], [.text("")], [.text("ab")], [.text("a"), .text("b")], [.text(""), .text("ab")],
      [.bytes(Array("ab".utf8))], [.integer(0)], [.integer(1)], [.number(0)], [.number(-0.0)], [.number(1)],
      [.flag(false)],
      [.flag(true)], [.key(CacheKey(bytes: []))], [.key(CacheKey { $0.append("ab") })],
      [.text(String(repeating: "x", count: 127))], [.text(String(repeating: "x", count: 128))],
    ]
    let keys = lists.map { parts in CacheKey { key in parts.forEach { key.append($0) } } }
    #expect(Set(keys).count == lists.count)
    #expect(keys.map(\.parts) == lists)
  }

  @Test
  func anExtendedKeyIsTheKeyOfAllParts() {
    let image = CacheKey { $0.append("url") }
    #expect(
      image.extended { $0.append(3) }
        == CacheKey {
          $0.append("url"); $0.append(3)
        }
    )
    #expect(image.extended { _ in } == image)
  }

  @Test(arguments: [0, 1, 7, 8, 9, 10_240, 100_000])
  func anyBytesAreAKey(count: Int) {
    let bytes = [UInt8](repeating: 0, count: count)
    #expect(CacheKey(bytes: bytes) == CacheKey(bytes: bytes))
    #expect(CacheKey(bytes: bytes) != CacheKey(bytes: bytes + [0]))
    #expect(CacheKey(bytes: bytes).bytes == bytes)
  }

  @Test
  func bytesThatAreNoPartsHaveNone() {
    for bytes: [UInt8] in [
      [1], [1, 5, 65], [3, 0], [5, 2], [9], [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
    ] {
      #expect(CacheKey(bytes: bytes).parts == nil)
    }
  }

  // From the authors' reference implementation: the key is 00 01 … 0f, the input 00 01 … of that length.
  @Test(arguments: [
    (0, 0xe6a8_25ba_047f_81a3 as UInt64, 0x9302_55c7_1472_f66d as UInt64),
    (1, 0x44af_996b_d8c1_87da, 0x45fc_229b_1159_7634),
    (2, 0xc75d_a4a4_8d22_7781, 0xe4ff_0af6_de8b_a3fc),
    (7, 0x53c1_dbd8_beeb_f1a1, 0x3982_f01f_a64a_b8c0),
    (8, 0x61f5_5862_baa9_623b, 0xb497_14f3_64e2_830f),
    (15, 0x11a8_b033_99e9_9354, 0xd9c3_cf97_0fec_087e),
    (16, 0xbb54_b067_caa4_e26e, 0x7705_2385_bf15_33fd),
    (63, 0x4a83_502f_77d1_5051, 0x7cbd_3f97_9a06_3e50),
  ])
  func sipHashAgreesWithItsReference(count: Int, low: UInt64, high: UInt64) {
    let secret = SipHash.Secret(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)
    let key = CacheKey(bytes: (0..<UInt8(count)).map { $0 })
    #expect(key.hash(under: secret) == KeyHash(low: low, high: high))
  }

  @Test
  func crc32cAgreesWithThePublishedValues() {
    // RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
    let inputs: [([UInt8], UInt32)] = [
      ([], 0), ([UInt8](repeating: 0, count: 32), 0x8A91_36AA), ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
      ((0..<32).map { $0 }, 0x46DD_794E), (Array("123456789".utf8), 0xE306_9283),
    ]
    for (input, expected) in inputs {
      for scalar in [false, true] {
        var checksum = CRC32C(scalar: scalar)
        checksum.append(Data(input))
        #expect(checksum.value == expected)
      }
    }
  }

  @Test
  func theTableAndTheInstructionAgreeForAnySplit() {
    var random = SplitMix64(seed: 1)
    for turn in 0..<200 {
      // The long ones are taken by three at once.
      let count = Int.random(in: 0...(turn % 2 == 0 ? 100 : 10_000), using: &random)
      let bytes = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
      let split = Int.random(in: 0...bytes.count, using: &random)
      var (fast, table) = (CRC32C(), CRC32C(scalar: true))
      fast.append(bytes)
      table.append(bytes[..<split])
      table.append(bytes[split...])
      #expect(fast.value == table.value)
    }
  }

  @Test
  func aPrefixIsTheKeyOfTheFirstParts() {
    let source = CacheKey { $0.append("https://example.com/cat.jpg") }
    var builder = CacheKey.Builder(reserving: 100)
    builder.append("https://example.com/cat.jpg")
    let end = builder.count
    builder.append(300)
    let image = builder.key()
    #expect(image == source.extended { $0.append(300) })
    #expect(image.prefix(end) == source)
    #expect(image.isExtension(of: image.prefix(end)))
    #expect(image.prefix(0) == CacheKey(bytes: []))
    #expect(image.prefix(1000) == image)
  }

  @Test
  func bytesThatAreTakenOverAreNotCopied() {
    let bytes: [UInt8] = [1, 2, 3]
    let key = CacheKey(bytes: bytes)
    // Where both begin, as numbers.
    let starts = [bytes, key.bytes].map { unsafe $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
    #expect(starts[0] == starts[1])
  }
}
