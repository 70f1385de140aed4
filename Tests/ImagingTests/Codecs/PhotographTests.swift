import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The photographs that the repository ships; their sizes are those of the list beside them, turned upright.
struct PhotographTests {
  struct Photo: Sendable, CustomTestStringConvertible {
    var name: String
    var size: [Int]
    var format: ImageFormat
    var testDescription: String { name }

    init(_ name: String, _ width: Int, _ height: Int, _ format: ImageFormat) {
      (self.name, size, self.format) = (name, [width, height], format)
    }
  }

  static let all: [Photo] = [
    Photo("aeroplane-rgb.png", 360, 240, .png),
    Photo("autumn-avenue-nikon.jpg", 640, 480, .jpeg),
    Photo("boats-animated.gif", 240, 160, .gif),
    Photo("caps-p3-profile.jpg", 768, 512, .jpeg),
    Photo("fishing-boat-16-bit.png", 192, 128, .png),
    Photo("harbour-pier-lossless.webp", 264, 176, .webp),
    Photo("hibiscus-window-alpha.png", 264, 176, .png),
    Photo("houses-animated.webp", 300, 200, .webp),
    Photo("lighthouse-progressive.jpg", 768, 512, .jpeg),
    Photo("macaws-444.jpg", 768, 512, .jpeg),
    Photo("motocross-lossy.webp", 600, 400, .webp),
    Photo("palm-island-grey.png", 384, 256, .png),
    Photo("rafting-still.gif", 384, 256, .gif),
    Photo("red-barn-progressive.jpg", 768, 512, .jpeg),
    Photo("red-door-palette.png", 384, 256, .png),
    Photo("spinnakers-interlaced.gif", 224, 336, .gif),
    Photo("statue-grey.jpg", 512, 768, .jpeg),
    Photo("waterfall-cliff-large.jpg", 1800, 1200, .jpeg),
    Photo("waterfall-cliff-orientation-3.jpg", 900, 600, .jpeg),
    Photo("waterfall-cliff-orientation-6.jpg", 900, 600, .jpeg),
    Photo("waterfall-cliff-orientation-8.jpg", 900, 600, .jpeg),
    Photo("waterfall-visitor-orientation-7.jpg", 600, 900, .jpeg),
    Photo("white-lighthouse-adam7.png", 176, 264, .png),
    Photo("yacht-lossy-alpha.webp", 384, 576, .webp),
  ]

  @Test(arguments: all)
  func theHeaderTellsFormatAndUprightSize(photo: Photo) throws {
    let header = try info(Photograph.data(photo.name))

    #expect(header.format == photo.format)
    #expect([header.width, header.height] == photo.size)
  }

  @Test(arguments: all)
  func aThumbnailHasTheRightSizeAndShowsSomething(photo: Photo) throws {
    let bitmap = try Bitmap(decoding: Photograph.data(photo.name), size: .pixels(64, 64))

    let isWide = photo.size[0] > photo.size[1]
    let shorter = Int((64 * Double(photo.size.min() ?? 0) / Double(photo.size.max() ?? 1)).rounded())
    #expect(bitmap.size == (isWide ? [64, shorter] : [shorter, 64]))
    #expect(bitmap.contrast > 15)
  }

  @Test(arguments: all.filter { $0.name.contains("grey") })
  func whatIsGreyStaysGrey(photo: Photo) throws {
    let bitmap = try Bitmap(decoding: Photograph.data(photo.name), size: .pixels(64, 64))

    #expect(bitmap.pixels.allSatisfy { $0.x == $0.y && $0.y == $0.z })
  }

  @Test(arguments: all.filter { !$0.name.contains("grey") })
  func whatIsColourfulStaysColourful(photo: Photo) throws {
    let bitmap = try Bitmap(decoding: Photograph.data(photo.name), size: .pixels(64, 64))

    let colourful = bitmap.pixels.count { abs(Int($0.x) - Int($0.z)) > 20 }
    #expect(colourful > 64)
  }

  @Test(arguments: [3, 6, 8])
  func onePictureStoredInSeveralWaysLooksTheSame(orientation: Int) throws {
    let upright = try Bitmap(decoding: Photograph.data("waterfall-cliff-large.jpg"), size: .pixels(90, 60))

    let turned = try Bitmap(
      decoding: Photograph.data("waterfall-cliff-orientation-\(orientation).jpg"),
      size: .pixels(90, 60),
    )

    // Another number is written into each of them.
    #expect(turned.psnr(against: upright) > 22)
  }

  @Test(arguments: [("boats-animated.gif", 2.7), ("houses-animated.webp", 3.0)])
  func anAnimationHasFourDifferentFrames(name: String, duration: Double) throws {
    let file = try Photograph.data(name)
    let header = try info(file)

    let frames = try (0..<4).map { frame in try decode(file, .pixels(48, 48)) { $0.frame = frame }.bitmap }

    #expect(header.frameCount == 4)
    #expect(abs(header.duration - duration) < 1e-6)
    for (first, second) in zip(frames, frames.dropFirst()) { #expect(first.psnr(against: second) < 20) }
  }

  @Test(arguments: ["hibiscus-window-alpha.png", "yacht-lossy-alpha.webp"])
  func whatIsTransparentStaysTransparent(name: String) throws {
    let decoded = try decode(Photograph.data(name), .pixels(48, 48))

    #expect(decoded.info.hasAlpha)
    #expect(decoded.bitmap[0, 0].w < 20)
    #expect(decoded.bitmap[decoded.bitmap.width / 2, decoded.bitmap.height / 2].w > 235)
  }
}
