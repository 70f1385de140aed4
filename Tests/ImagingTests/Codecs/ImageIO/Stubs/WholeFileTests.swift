import Foundation
import ImageIO
import VitrineTestSupport
import enum StubCodecs.StillCheck
import Testing
import VitrineImaging
import VitrineTesting

/// ImageIO has crashed on GIFs whose data end early, and in its code for animations.
///
/// It is given neither.
struct WholeFileTests {
  static let names = [
    "still.gif", "interlaced.gif", "lossy.webp", "lossless.webp", "lossy-alpha.webp", "lossless-alpha.webp",
    "animated.webp", "animated.png", "hidden-default.png",
  ]

  static let animation: Data = {
    let colors: [SIMD4<UInt8>] = [SIMD4(255, 0, 0, 255), SIMD4(0, 255, 0, 255)]
    let frames = (0..<3).map { number in
      GIFFile.Frame(left: number, width: 20 - number, height: 14) { x, y in (x + y + number) % 2 }
    }
    return GIFFile(width: 20, height: 14, palette: colors, frames: frames).data
  }()

  static func data(_ name: String) throws -> Data { name == "animation" ? animation : try Fixture.data(name) }

  /// Checks that each file that ImageIO got is one whole still picture, by Linux's codecs.
  private func check(_ calls: Calls, _ what: String) {
    for file in calls.files { #expect(StillCheck.isWhole(file), "\(what): \(file.count) bytes") }
    for case .update(let data, _) in calls.list {
      // The beginning of a file, of the formats that ImageIO may see so.
      let format = ImageFormat.sniff(data)
      #expect(format == .jpeg || format == .png, "\(what)")
    }
  }

  @Test(arguments: names + ["animation"])
  func noPrefixReachesImageIO(name: String) throws {
    let whole = try Self.data(name)
    let frames = try DecoderRegistry.standard.info(of: whole).frameCount
    for count in stride(from: 1, to: whole.count, by: max(1, whole.count / 150)) {
      for frame in [0, frames - 1] {
        for acceptsPartial in [false, true] {
          let calls = Calls()
          calls.during {
            _ = try? decode(whole.prefix(count)) {
              $0.frame = frame
              $0.acceptsPartial = acceptsPartial
            }
          }
          check(calls, "\(name), \(count) bytes, frame \(frame)")
        }
      }
    }
  }

  @Test(arguments: names + ["animation"])
  func noPreviewBringsOneThereEither(name: String) throws {
    let whole = try Self.data(name)
    let calls = Calls()
    calls.during {
      var policy = PreviewPolicy()
      (policy.showsRows, policy.limit, policy.interval) = (true, 1000, 1)
      var decoder = IncrementalDecoder(previews: policy)
      for byte in whole where (try? decoder.append(Data([byte]))) == .previewReady {
        _ = try? decoder.preview()
      }
    }
    check(calls, name)
  }

  /// What is damaged in its middle is found by us, or is whole all the same.
  @Test(arguments: ["still.gif", "interlaced.gif", "animation"])
  func aGIFWhoseFramesLackPixelsDoesNotReachIt(name: String) throws {
    let whole = try Self.data(name)
    var generator = SplitMix64(seed: 17)
    for _ in 0..<600 {
      var damaged = whole
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let place = Int.random(in: 6..<damaged.count, using: &generator)
        damaged[damaged.startIndex + place] = UInt8.random(in: 0...255, using: &generator)
      }
      let calls = Calls()
      calls.during { _ = try? decode(damaged) { $0.acceptsPartial = true } }
      check(calls, name)
    }
  }

  /// The palette has two colours, and a pixel has the sixth.
  @Test
  func anUndefinedColourIsBlackBeforeItReachesIt() throws {
    let frame = GIFFile.Frame(width: 4, height: 2) { x, _ in x == 3 ? 5 : 1 }
    var file = GIFFile(width: 4, height: 2, palette: [SIMD4(9, 9, 9, 255), SIMD4(0, 255, 0, 255)], frames: [frame]).data
    file[10] = 0x80
    file.removeSubrange(19..<37)

    let calls = Calls()
    let shown = try calls.during { try decode(file) }.bitmap

    #expect(calls.files.map { $0[10] } == [0x87])
    #expect(shown[2, 0] == SIMD4(0, 255, 0, 255))
    #expect(shown[3, 0] == SIMD4(0, 0, 0, 255))
  }

  /// Frames of fixtures are compared with those of other programs in `GIFTests`, `APNGTests` and `WebPTests`.
  @Test(arguments: 0..<3)
  func eachFrameOfTheAnimationIsDrawnOverThoseBefore(frame: Int) throws {
    let shown = try decode(Self.animation) { $0.frame = frame }.bitmap

    #expect(shown.size == [20, 14])
    for (index, pixel) in shown.pixels.enumerated() {
      let isRed = (index % 20 + index / 20).isMultiple(of: 2)
      #expect(pixel == (isRed ? SIMD4(255, 0, 0, 255) : SIMD4(0, 255, 0, 255)), "pixel \(index)")
    }
  }

  @Test
  func anAnimationsDelaysAndLoopsAreThoseOfTheFile() throws {
    let file = try Fixture.data("animated.webp")
    let calls = Calls()
    let (info, delays) = try calls.during {
      (try DecoderRegistry.standard.info(of: file), try DecoderRegistry.standard.frameDelays(of: file))
    }
    #expect(info.frameCount == 4)
    #expect(delays == [0.1, 0.1, 0.2, 0.1])
    #expect(calls.list.isEmpty)
  }
}
