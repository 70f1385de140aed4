// Encrypts images on disk.

import Foundation
import Vitrine
import VitrineCaching

/// An authenticated cipher of your choice, such as AES-GCM or ChaCha20-Poly1305.
///
/// With swift-crypto, for a `key` from the system's key store:
///
///     seal: { try ChaChaPoly.seal($0, using: key, authenticating: $1).combined }
///     open: { try ChaChaPoly.open(ChaChaPoly.SealedBox(combined: $0), using: key, authenticating: $1) }
struct UserCipher: Sendable {
  let seal: SealedDataCache.Cipher
  let open: SealedDataCache.Cipher
}

struct BadSecret: Error {}

func pipeline(in folder: URL, sealedWith cipher: UserCipher, secretBytes: Data) throws -> ImagePipeline {
  // snippet.show
  // 16 bytes that hide the keys. Store them where the cipher's key is.
  guard let secret = SealedDataCache.Secret(bytes: secretBytes) else { throw BadSecret() }

  let pipeline = try ImagePipeline {
    let disk = try DiskCache(directory: folder, sizeLimit: 300 << 20)
    $0.diskCache = SealedDataCache(disk, secret: secret, seal: cipher.seal, open: cipher.open)
  }
  // snippet.hide
  return pipeline
}
