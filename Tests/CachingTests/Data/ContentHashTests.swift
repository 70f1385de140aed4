import Testing
import VitrineCaching
import VitrineRuntime
import VitrineTestSupport

struct ContentHashTests {
  private func bytes(_ count: Int) -> Data { Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }) }

  /// What another program says of the same bytes under the two seeds.
  @Test(
    arguments: [
      (0, 0xEF46_DB37_51D8_E999, 0xCFD2_C09D_9FDA_6FAE), (1, 0x1F25_C8D0_BC1F_4BB6, 0xD5B6_D1D1_7E70_56A3),
      (4, 0x9BB6_4B7D_66EE_9FDA, 0x035A_F381_E190_9D44), (8, 0xDAB9_9D95_C6F9_0092, 0x6B77_8A9E_53C2_68C8),
      (13, 0xF78B_0313_08F5_BFC8, 0x31D6_6D3D_34C4_1277), (31, 0xA2AA_5F33_CC4A_6119, 0xCE1E_D200_7B5A_65B4),
      (32, 0x23C3_C17E_F790_FD97, 0x1DC5_D0AE_CA58_5F8F), (33, 0x50A7_CFC7_BA58_8784, 0x3CDC_886E_F133_38AB),
      (100, 0xA61F_8D4C_170F_E531, 0x26EB_1EE9_9FE3_3540), (1000, 0x5F23_5FA0_33F1_A3FB, 0xA8F7_DE36_3DAB_4CF8),
    ] as [(Int, UInt64, UInt64)]
  )
  func itIsXXH64UnderTwoSeeds(count: Int, low: UInt64, high: UInt64) {
    #expect(ContentID(of: bytes(count)) == ContentID(low: low, high: high))
  }

  @Test
  func piecesOfAnySizeMakeTheSameHash() {
    let whole = bytes(333)
    for size in 1...70 {
      var hash = ContentHash()
      var rest = whole[...]
      while !rest.isEmpty {
        hash.append(Data(rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      #expect(hash.value == ContentID(of: whole), "in pieces of \(size)")
    }
  }
}
