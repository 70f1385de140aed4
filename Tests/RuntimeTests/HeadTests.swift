import Testing
import VitrineRuntime

/// Heads as they are written and read.
@Suite
struct HeadTests {
  private var written: Data {
    var head = HeadWriter(capacity: 8)
    head.append(UInt8(1))
    head.append(UInt16(0x0302))
    head.append(UInt32(0x0706_0504))
    head.append(count: -5)
    head.append(count: 8)
    head.append(seconds: .infinity)
    head.append(Int64(-2))
    head.append([9, 10])
    head.append(Data([11]))
    head.append(lines: ["", "é", ""])
    return head.data
  }

  @Test
  func numbersAreLittleEndian() {
    #expect(written.prefix(7) == Data(1...7))
    #expect(written.dropFirst(7).prefix(16) == Data(count: 8) + [8, 0, 0, 0, 0, 0, 0, 0])
  }

  @Test
  func whatIsWrittenIsRead() throws {
    var head = try #require(HeadReader(written))
    #expect(head.uint8() == 1 && head.uint16() == 0x0302 && head.uint32() == 0x0706_0504)
    #expect(head.count() == 0 && head.count() == 8 && head.seconds() == .infinity && head.number(Int64.self) == -2)
    #expect(head.data(3) == Data([9, 10, 11]))
    #expect(head.lines() == ["", "é", ""])
    #expect(head.remaining == 0 && head.lines() == [""])
  }

  @Test
  func nothingIsReadBeyondTheEnd() {
    var head = HeadReader([1, 2, 3])
    #expect(head.uint32() == nil && head.uint64() == nil && head.count() == nil && head.seconds() == nil)
    #expect(head.data(4) == nil && head.data(-1) == nil && head.data(.max) == nil)
    // What could not be read took no bytes.
    #expect(head.uint16() == 0x0201 && head.uint16() == nil && head.uint8() == 3 && head.uint8() == nil)
    #expect(head.data(0) == Data() && head.remaining == 0)
    #expect(HeadReader([1], from: 5).remaining == 0 && HeadReader([1], from: -5).remaining == 1)
  }

  @Test
  func whatIsNoCountOrNoTextIsNone() {
    var number = HeadReader([UInt8](repeating: 255, count: 8))
    #expect(number.count() == nil)
    var text = HeadReader([0x61, 0xC3])
    #expect(text.lines() == nil)
  }

  @Test
  func aLongHeadIsNotRead() {
    #expect(HeadReader(Data(count: HeadReader.limit)) != nil)
    #expect(HeadReader(Data(count: HeadReader.limit + 1)) == nil)
  }
}
