import Testing
import VitrineCaching
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineS3

/// The keys of Amazon's examples.
let exampleKeys = S3Credentials(
  accessKeyID: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
)

/// 24 May 2013, the day of Amazon's examples.
let exampleDay = Date(timeIntervalSince1970: 1_369_353_600)

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

/// The error that a call throws; the test fails if it throws none.
func s3Failure<Value>(_ body: () async throws(S3Error) -> Value) async throws -> S3Error {
  do throws(S3Error) {
    _ = try await body()
  } catch {
    return error
  }
  Issue.record("no error")
  throw Unexpected()
}
