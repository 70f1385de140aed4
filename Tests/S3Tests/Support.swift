import Testing
import VitrineCaching
import VitrineHTTP
import VitrineRuntime
import VitrineTesting

@testable import VitrineS3

/// The keys of Amazon's examples.
let exampleKeys = S3Credentials(
  accessKeyID: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
)

/// 24 May 2013, the day of Amazon's examples.
let exampleDay = Date(timeIntervalSince1970: 1_369_353_600)

struct Unexpected: Error {}

func bytes(_ count: Int, seed: UInt8 = 1) -> Data {
  var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
  return Data(
    (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  )
}

/// An entry whose content is named by its bytes.
func entry(_ data: Data, metadata: Data = Data("etag".utf8), expires: Date? = exampleDay) -> CachedData {
  CachedData(
    data: data,
    metadata: metadata,
    contentID: ContentID(of: data),
    expires: expires,
    stored: Date(timeIntervalSince1970: 1_000_000_000),
  )
}

func key(_ parts: String...) -> CacheKey {
  CacheKey { for part in parts { $0.append(part) } }
}

/// A loader that no proxy of the machine's stands between.
func makeLoader() -> SystemLoader {
  var options = SystemLoader.Options()
  options.usesProxiesOfEnvironment = false
  options.connectionLimitPerHost = 16
  return SystemLoader(options)
}

/// The error that a call throws; the test fails if it throws none.
func failure<Value>(_ body: () async throws(S3Error) -> Value) async throws -> S3Error {
  do throws(S3Error) {
    _ = try await body()
  } catch {
    return error
  }
  Issue.record("no error")
  throw Unexpected()
}
