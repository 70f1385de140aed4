import Testing

@testable import VitrineImaging

/// Rows that go to another thread arrive as they would on the decoder's.
@Suite
struct RowRelayTests {
  /// Keeps the first bytes of rows, and refuses one.
  private struct Keeper: RowTaking {
    var rows: [[UInt8]] = []
    var byteCount = 0
    var refused = Int.max

    mutating func begin(_ head: RowHead) throws(ImageError) {}

    mutating func take(_ row: UnsafeRawBufferPointer) throws(ImageError) {
      guard rows.count < refused else { throw ImageError(.overLimit, "row \(rows.count) is refused") }
      unsafe rows.append(Array(row.prefix(4)))
      byteCount += row.count
    }
  }

  private func relay(_ keeper: Keeper, hasThread: Bool = true) -> RowRelay<Keeper> {
    RowRelay(keeper, niceness: 0, hasThread: hasThread)
  }

  private func row(_ index: Int, length: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 7, count: length)
    for place in 0..<4 { bytes[place] = UInt8(truncatingIfNeeded: index >> (8 * place)) }
    return bytes
  }

  private func push(_ range: Range<Int>, length: Int, to relay: RowRelay<Keeper>) throws {
    for index in range { try unsafe row(index, length: length).withUnsafeBytes { try unsafe relay.take($0) } }
  }

  @Test(arguments: [true, false], [(1, 4), (3, 400), (700, 12_500), (9, 3 << 20), (262_145, 4)])
  func allRowsArriveInOrder(hasThread: Bool, size: (count: Int, length: Int)) throws {
    let relay = relay(Keeper(), hasThread: hasThread)
    try push(0..<size.count, length: size.length, to: relay)
    try relay.finish()
    #expect(relay.taker.rows == (0..<size.count).map { Array(row($0, length: size.length).prefix(4)) })
    #expect(relay.taker.byteCount == size.count * size.length)
  }

  @Test
  func aPictureWithoutRowsHasNone() throws {
    let relay = relay(Keeper())
    try relay.finish()
    #expect(relay.taker.rows.isEmpty)
  }

  @Test(arguments: [0, 1, 80, 81, 82, 699])
  func theErrorOfTheTakerIsThrownAndEndsTheRows(refused: Int) throws {
    let relay = relay(Keeper(refused: refused))
    #expect(throws: ImageError.self) {
      try push(0..<700, length: 12_500, to: relay)
      try relay.finish()
    }
    relay.cancel()
    #expect(relay.taker.rows.count == refused)
  }

  @Test(arguments: [0, 10, 100, 600])
  func nothingIsTakenAfterACancel(count: Int) throws {
    let relay = relay(Keeper())
    try push(0..<count, length: 12_500, to: relay)
    relay.cancel()
    let taken = relay.taker.rows.count
    #expect(taken <= count)
    // What has been taken is the beginning.
    #expect(relay.taker.rows == (0..<taken).map { Array(row($0, length: 4)) })
  }
}
