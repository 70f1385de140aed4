import VitrineRuntime
import VitrineTestSupport

@testable import VitrineCaching

/// Stands for a cipher of the AEAD kind in tests; of no use against anybody.
struct TestCipher: Sendable {
  struct Refused: Error {}

  let secret: SipHash.Secret
  private let nonces = Lock<UInt64>(0)

  init(_ number: UInt64 = 1) { secret = SipHash.Secret(low: number, high: 77) }

  func seal(_ bytes: Data, _ context: Data) -> Data {
    let nonce = nonces.withLock { nonce in
      nonce += 1
      return nonce
    }
    var sealed = Data(Self.bytes(nonce))
    sealed.append(mask(bytes, nonce))
    sealed.append(contentsOf: Self.bytes(tag(sealed, context)))
    return sealed
  }

  func open(_ sealed: Data, _ context: Data) throws -> Data {
    guard sealed.count >= 16 else { throw Refused() }
    let (body, tag) = (Data(sealed.dropLast(8)), sealed.suffix(8))
    guard Array(tag) == Self.bytes(self.tag(body, context)) else { throw Refused() }
    let nonce = body.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return mask(Data(body.dropFirst(8)), nonce)
  }

  private func mask(_ bytes: Data, _ nonce: UInt64) -> Data {
    var masked = [UInt8](bytes)
    for start in stride(from: 0, to: masked.count, by: 8) {
      let word = Self.bytes(hash(Self.bytes(nonce) + Self.bytes(UInt64(start))))
      for index in start..<min(start + 8, masked.count) { masked[index] ^= word[index - start] }
    }
    return Data(masked)
  }

  private func tag(_ body: Data, _ context: Data) -> UInt64 {
    hash(Self.bytes(UInt64(context.count)) + [UInt8](context) + [UInt8](body))
  }

  private func hash(_ bytes: [UInt8]) -> UInt64 { CacheKey(bytes: bytes).hash(under: secret).low }

  private static func bytes(_ word: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
}
