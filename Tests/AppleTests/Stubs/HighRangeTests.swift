import AppKit
import CoreGraphics
import Foundation
import SwiftUI
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
    let pipeline = ImagePipeline(.ephemeral)
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

  /// What a view of UIKit and one of AppKit show in each range of a file that has three times white.
  @MainActor
  @Test(arguments: [
    (DisplayRange.unspecified, Float(0)), (.standard, 0), (.constrainedHigh, 3), (.high, 3),
  ])
  func aRangeReachesTheRequestAndTheView(range: DisplayRange, headroom: Float) async throws {
    let setting = try Setting()
    let (ui, ns) = (UIImageView(), NSImageView())
    let source = ImageSource.data(try Self.file(), id: "range")
    for loader in [ui.vitrine, ns.vitrine] {
      let history = History()
      loader.pipeline = setting.pipeline
      loader.onChange = { history.note($0) }
      loader.dynamicRange = .standard
      loader.dynamicRange = range
      loader.load(ImageRequest(source, size: .pixels(20, 20)))
      await history.settled()
    }
    let expected: (UIImage.DynamicRange, NSImage.DynamicRange) =
      switch range {
      case .unspecified: (.unspecified, .unspecified)
      case .standard: (.standard, .standard)
      case .constrainedHigh: (.constrainedHigh, .constrainedHigh)
      case .high: (.high, .high)
      }
    #expect(ui.preferredImageDynamicRange == expected.0)
    #expect(ns.preferredImageDynamicRange == expected.1)
    #expect(ui.image?.cgImage?.contentHeadroom == headroom)
    let pixels = unsafe ns.image?.cgImage(forProposedRect: nil, context: nil, hints: nil)
    #expect(pixels?.contentHeadroom == headroom)
  }

  @MainActor
  @Test
  func aViewOfSwiftUIShowsAsMuchAsIsAllowed() async throws {
    let setting = try Setting()
    var request = ImageRequest(.data(try Self.file(), id: "view"), size: .pixels(20, 20))
    request.dynamicRange = .high
    _ = try await setting.pipeline.image(for: request)
    var environment = EnvironmentValues()
    environment.imagePipeline = setting.pipeline
    let view = RemoteImage(request) { phase in phase.image }
    #expect(_Host(view, environment: environment).images.first?.dynamicRange == .high)
    let host = _Host(view.allowedDynamicRange(.constrainedHigh), environment: environment)
    #expect(host.images.first?.dynamicRange == .constrainedHigh)
    #expect(host.images.first?.cgImage?.contentHeadroom == 3)
  }

  @Test
  func itCountsInMemoryAndIsNotStoredAsAFinishedImage() async throws {
    let pipeline = ImagePipeline(.ephemeral)
    var request = ImageRequest(.data(try Self.file(), id: "cost"), size: .pixels(20, 20))
    request.dynamicRange = .high
    _ = try await pipeline.image(for: request)
    // 20x10 pixels of four bytes, and of eight.
    #expect(pipeline.configuration.memoryCache?.statistics.cost == 200 * 12)
  }
}
