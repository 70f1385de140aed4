// Images on disk that nobody can read who has only the folder.

import Foundation
import Vitrine

/// A cipher of your choice that encrypts, and authenticates the second argument along: AES-GCM, ChaCha20-Poly1305.
///
/// With swift-crypto, for a `key` out of the system's key store:
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
  // What keys are hidden with: 16 bytes, kept where the cipher's key is.
  guard let secret = SealedDataCache.Secret(bytes: secretBytes) else { throw BadSecret() }

  let pipeline = try ImagePipeline {
    let disk = try DiskCache(directory: folder, sizeLimit: 300 << 20)
    $0.diskCache = SealedDataCache(disk, secret: secret, seal: cipher.seal, open: cipher.open)
  }
  // snippet.hide
  return pipeline
}
