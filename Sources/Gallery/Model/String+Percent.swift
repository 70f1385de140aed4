import VitrineRuntime

extension String {
  /// The text without percent encoding; `nil` if it is no valid one, or does not stand for UTF-8.
  var removingPercentEncoding: String? { bytesWithoutPercentEncoding?.text }

  /// The bytes that a text with percent encoding stands for; `nil` if it is no valid one.
  var bytesWithoutPercentEncoding: ByteString? {
    var bytes: [UInt8] = []
    var rest = utf8.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next(), let low = rest.next(),
        let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16), high != UInt8(ascii: "+")
      else { return nil }
      bytes.append(value)
    }
    return ByteString(bytes: bytes)
  }
}
