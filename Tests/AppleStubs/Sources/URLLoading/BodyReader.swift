import Foundation

/// The reader of a body in pieces.
struct BodyReader {
  private let connection: Connection
  private var framing: ResponseHead.Framing
  /// The bytes of the current chunk that are still to come.
  private var chunkLeft = 0
  private var isFirstChunk = true
  /// Whether the body was read to its end.
  private(set) var isAtEnd = false

  init(_ connection: Connection, _ framing: ResponseHead.Framing) {
    self.connection = connection
    self.framing = framing
    isAtEnd = framing == .none || framing == .length(0)
  }

  /// Waits for the next piece, or returns `nil` at the end.
  mutating func next(_ watch: Watch) throws(Failure) -> [UInt8]? {
    guard !isAtEnd else { return nil }
    switch framing {
    case .none: return nil
    case .length(let left):
      let piece = try piece(atMost: left, watch)
      framing = .length(left - piece.count)
      isAtEnd = left == piece.count
      return piece
    case .untilClose:
      if connection.buffer.isEmpty, try !connection.fill(watch) {
        isAtEnd = true
        return nil
      }
      return connection.take(connection.buffer.count)
    case .chunked:
      if chunkLeft == 0 { try startChunk(watch) }
      guard !isAtEnd else { return nil }
      let piece = try piece(atMost: chunkLeft, watch)
      chunkLeft -= piece.count
      return piece
    }
  }

  private func piece(atMost limit: Int, _ watch: Watch) throws(Failure) -> [UInt8] {
    if connection.buffer.isEmpty, try !connection.fill(watch) {
      throw Failure(.networkConnectionLost)
    }
    return connection.take(limit)
  }

  private func line(_ watch: Watch) throws(Failure) -> [UInt8] {
    guard let line = try connection.takeLine(atMost: 1 << 14, watch) else {
      throw Failure(.networkConnectionLost)
    }
    return line
  }

  private mutating func startChunk(_ watch: Watch) throws(Failure) {
    if !isFirstChunk {
      guard try line(watch).isEmpty else { throw Failure(.cannotParseResponse) }
    }
    isFirstChunk = false
    let digits = try line(watch).prefix { $0 != 59 }.filter { $0 != 32 && $0 != 9 }
    let text = String(decoding: digits, as: UTF8.self)
    guard !text.isEmpty, text.allSatisfy(\.isHexDigit), let size = Int(text, radix: 16) else {
      throw Failure(.cannotParseResponse)
    }
    chunkLeft = size
    guard size == 0 else { return }
    // The trailer fields are skipped.
    while try !line(watch).isEmpty {}
    isAtEnd = true
  }
}
