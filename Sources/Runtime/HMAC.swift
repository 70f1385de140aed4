/// Keyed hashes of messages (RFC 2104).
package enum HMAC {
  /// Returns HMAC-SHA256 of a message, in 32 bytes.
  ///
  /// - Complexity: O(count).
  package static func sha256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    let key = key.count > 64 ? SHA256.hash(key) : key
    let block = key + [UInt8](repeating: 0, count: 64 - key.count)
    return SHA256.hash(block.map { $0 ^ 0x5C } + SHA256.hash(block.map { $0 ^ 0x36 } + message))
  }

  /// Compares bytes in a time that depends on their number and not on their values.
  @inline(never)
  package static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    var difference: UInt8 = 0
    for index in one.indices { difference |= one[index] ^ other[index] }
    return difference == 0
  }
}
