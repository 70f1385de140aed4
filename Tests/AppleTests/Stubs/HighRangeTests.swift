import CoreGraphics
import Foundation
import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineTesting

import struct StubCodecs.StubFile

/// High dynamic range, from a request to an image of UIKit.
struct HighRangeTests {
  private static func file() throws -> Data {
    let picture = Bitmap.testPattern(width: 40, height: 20)
    var file = StubFile("public.heic", [try picture.encoded(as: .png)])
    file.headroom = 3
    return file.data
  }

  @Test
  func aRequestForItHasItAndAnotherHasNot() async throws {
    let pipeline = ImagePipeline()
    let source = ImageSource.data(try Self.file(), id: "bright")
    var bright = ImageRequest(source, size: .pixels(20, 20))
    let plain = bright
    bright.dynamicRange = .high
    #expect(bright != plain)

    let first = try await pipeline.imageTask(for: bright).response
    let second = try await pipeline.imageTask(for: plain).response

    #expect(first.container.highRange?.headroom == 3)
    #expect(second.container.highRange == nil)
    #expect(pipeline.cachedImage(for: bright)?.container.highRange?.width == 20)
    let image = try #require(UIImage(first.container, scale: 2))
    #expect(image.size == CGSize(width: 10, height: 5))
    #expect(image.cgImage?.contentHeadroom == 3)
    #expect(UIImage(second.container)?.cgImage?.contentHeadroom == 0)
  }

  @Test
  func itCountsInMemoryAndIsNotStoredAsAFinishedImage() async throws {
    let pipeline = ImagePipeline()
    var request = ImageRequest(.data(try Self.file(), id: "cost"), size: .pixels(20, 20))
    request.dynamicRange = .high
    _ = try await pipeline.image(for: request)
    // 20x10 pixels of four bytes, and of eight.
    #expect(pipeline.configuration.memoryCache?.statistics.cost == 200 * 12)
  }
}
