import CLibHiredis
import VitrineRuntime

/// A reply of a server.
enum RedisReply: Sendable, Hashable {
  case status(String)
  case error(String)
  case integer(Int64)
  case bytes(Data)
  case array([RedisReply])
  case null

  /// Copies a reply of hiredis.
  ///
  /// Returns `nil` for a type that this version of the protocol does not have.
  init?(copying reply: UnsafePointer<redisReply>) {
    // hiredis keeps `str` at `len` bytes and `element` at `elements` replies until the reply is freed.
    let value = unsafe reply.pointee
    switch unsafe value.type {
    case REDIS_REPLY_STRING: self = .bytes(unsafe Self.bytes(value))
    case REDIS_REPLY_STATUS: self = .status(String(decoding: unsafe Self.bytes(value), as: UTF8.self))
    case REDIS_REPLY_ERROR: self = .error(String(decoding: unsafe Self.bytes(value), as: UTF8.self))
    case REDIS_REPLY_INTEGER: self = .integer(unsafe value.integer)
    case REDIS_REPLY_NIL: self = .null
    case REDIS_REPLY_ARRAY:
      var replies: [RedisReply] = []
      for index in unsafe 0..<value.elements {
        guard let element = unsafe value.element?[Int(index)], let reply = unsafe RedisReply(copying: element) else {
          return nil
        }
        replies.append(reply)
      }
      self = .array(replies)
    default: return nil
    }
  }

  private static func bytes(_ reply: redisReply) -> Data {
    guard let start = unsafe reply.str, unsafe reply.len > 0 else { return Data() }
    return unsafe Data(bytes: start, count: Int(reply.len))
  }

  var isOK: Bool { self == .status("OK") }
  var bytes: Data? { if case .bytes(let bytes) = self { bytes } else { nil } }
  var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
  var array: [RedisReply]? { if case .array(let replies) = self { replies } else { nil } }
  var error: String? { if case .error(let text) = self { text } else { nil } }
}

/// A command: its name and arguments, as bytes.
struct RedisCommand: Sendable {
  private(set) var parts: [Data]

  init(_ name: String, _ arguments: Data...) { parts = [Data(name.utf8)] + arguments }

  init(_ name: String, _ arguments: [Data]) { parts = [Data(name.utf8)] + arguments }

  /// Appends the command in its wire format: an array of bulk strings.
  func append(to bytes: inout Data) {
    bytes.append(contentsOf: "*\(parts.count)\r\n".utf8)
    for part in parts {
      bytes.append(contentsOf: "$\(part.count)\r\n".utf8)
      bytes.append(part)
      bytes.append(contentsOf: "\r\n".utf8)
    }
  }
}

extension Data {
  /// Creates the bytes of a text.
  init(_ text: some StringProtocol) { self.init(text.utf8) }

  /// Creates the decimal digits of a number.
  init(number: some BinaryInteger) { self.init("\(number)".utf8) }
}
