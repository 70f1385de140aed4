package import VitrineCaching
import VitrineRuntime

package func key(_ number: Int) -> CacheKey {
  CacheKey { $0.append("https://example.com/\(number).jpg") }
}

/// Bytes that tell what they belong to.
package func content(_ number: Int, _ count: Int = 500, version: Int = 0) -> Data {
  bytes(count, seed: UInt64(number) << 20 ^ UInt64(version))
}

/// An entry of such bytes.
package func entry(
  _ number: Int,
  _ count: Int = 500,
  version: Int = 0,
  kind: CachedData.Kind = .original,
  metadata: String = "m",
  expires: Date? = nil,
) -> CachedData {
  let data = content(number, count, version: version)
  return CachedData(
    data: data,
    kind: kind,
    metadata: Data(metadata.utf8),
    contentID: ContentID(of: data),
    expires: expires,
    stored: Date(timeIntervalSinceReferenceDate: 1000),
  )
}
