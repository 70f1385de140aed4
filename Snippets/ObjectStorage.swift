// Loads images from a bucket, and shares what is made of them with other machines.

import Foundation
import Vitrine
import VitrineCaching
import VitrineS3
import VitrineTiers

func makePipeline() throws -> ImagePipeline {
  // snippet.show
  let client = try S3Client(S3Configuration(environment: ProcessInfo.processInfo.environment))
  let shared = try S3DataCache(client, bucket: "thumbnails", prefix: "v1/")
  let pipeline = ImagePipeline {
    $0.loader = S3Loader(client, buckets: ["photos"])
    $0.diskCache = TieredDataCache([.local(MemoryDataCache(sizeLimit: 64 << 20)), .bucket(shared)])
  }
  // snippet.hide
  return pipeline
}

func load(by pipeline: ImagePipeline) async throws -> Bitmap {
  // snippet.show
  let image = try await pipeline.image(for: ImageRequest(url: "s3://photos/2026/cat.jpg", size: .pixels(300, 300)))
  // snippet.hide
  return image
}

nonisolated protocol Role: Sendable {
  func assume() async throws -> (id: String, secret: String, token: String, expiry: Date)
}

func configuration(_ role: any Role) -> S3Configuration {
  // snippet.show
  let configuration = S3Configuration(
    region: "eu-central-1",
    credentials: .refreshed {
      let keys = try await role.assume()
      return S3Credentials(
        accessKeyID: keys.id,
        secretAccessKey: keys.secret,
        sessionToken: keys.token,
        expires: keys.expiry,
      )
    },
  )
  // snippet.hide
  return configuration
}
