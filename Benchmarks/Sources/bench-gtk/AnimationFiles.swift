import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineSandbox
import VitrineTesting

/// The animations that are measured: the files that were given, and some of 25 frames a second that are made here, one in each
/// format.
struct AnimationFiles {
  struct File {
    let name: String
    let data: Data

    /// A request whose bytes are read anew, under a name of its own, so that it shares nothing with others.
    func request(_ id: String) -> ImageRequest {
      let data = data
      return ImageRequest(
        .closure(id: "\(name) \(id)") {
          // A copy: the bytes of a response are not shared, either.
          Data(Array(data))
        }
      )
    }
  }

  private(set) var all: [File] = []

  init(_ paths: [String]) throws(Mistake) {
    for path in paths {
      do {
        let data = try FileContents.at(path)
        guard try BenchGTK.codecs.decoders.info(of: data).frameCount > 1 else { continue }
        all.append(File(name: path.split(separator: "/").last.map(String.init) ?? path, data: data))
      } catch {
        throw Mistake(message: "\(path): \(error)")
      }
    }
    guard !all.isEmpty else { throw Mistake(message: "the sources contain no animation") }
    do throws(ImageError) {
      // Without a loss, since the other files are made of it.
      var disc = ImageContainer(Self.movingDisc(0))
      disc.animation = Self.movingDisc()
      var options = DecodeOptions()
      options.animates = true
      let encoders = BenchGTK.codecs.encoders
      let file = try encoders.encode(disc, as: ImageEncoding(.webp, isLossless: true)).data
      let image = try DecoderRegistry.standard.decode(file, options)
      let formats: [(String, ImageEncoding)] = [("gif", .gif()), ("webp", .webp()), ("avif", ImageEncoding(.avif))]
      for (name, encoding) in formats {
        all.append(File(name: "moving.\(name), made here", data: try encoders.encode(image, as: encoding).data))
      }
    } catch {
      throw Mistake(message: "\(error)")
    }
  }

  /// An animation of 25 frames a second: a disc goes round over a pattern of more colours than a palette has.
  private static func movingDisc() -> AnimatedImage {
    var info = ImageInfo(format: .bitmap, storedWidth: 320, storedHeight: 240)
    (info.frameCount, info.loopCount) = (frameCount, 0)
    let next = Lock(0)
    return AnimatedImage(poster: movingDisc(0), info: info) {
      let index = next.withLock { index in
        defer { index += 1 }
        return index
      }
      return index < frameCount ? AnimationFrame(bitmap: movingDisc(index), index: index, delay: 0.04) : nil
    }
  }

  /// Returns a frame of that animation.
  private static func movingDisc(_ index: Int) -> Bitmap {
    let angle = 2 * Double.pi * Double(index) / Double(frameCount)
    let (left, top) = (160 + 100 * cos(angle), 120 + 70 * sin(angle))
    return .pixels(width: 320, height: 240, alpha: .opaque) { x, y in
      let (right, down) = (Double(x) - left, Double(y) - top)
      if right * right + down * down < 900 { return SIMD4(240, UInt8(6 * index), 40, 255) }
      return SIMD4(UInt8(x * 3 / 4), UInt8(y), UInt8((x * x + y * y) / 97 & 127), 255)
    }
  }

  private static let frameCount = 40
}
