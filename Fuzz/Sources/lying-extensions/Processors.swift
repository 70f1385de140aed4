import Foundation
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

func bitmap(_ width: Int, _ height: Int) -> Bitmap {
  Bitmap(width: width, height: height, alpha: .straight) { unsafe $0.initializeMemory(as: UInt8.self, repeating: 9) }
}

let liar = Wrong(description: "of the program's own")

func processorCases() -> [Case] {
  let bodies: [(String, @Sendable (ImageContainer) throws -> ImageContainer)] = [
    ("tiny", { ImageContainer(bitmap(1, 1), info: $0.info) }),
    ("wide", { ImageContainer(bitmap(20_000, 1), info: $0.info) }),
    (
      "large",
      {
        var image = $0; image.bitmap = bitmap(4000, 4000); return image
      },
    ),
    ("throws", { _ in throw liar }), ("cancels", { _ in throw CancellationError() }),
    ("is cancelled", { _ in throw ImageError(.cancelled, "lie") }),
    (
      "preview",
      {
        var image = $0; image.isPreview = true; return image
      },
    ),
    (
      "damaged",
      {
        var image = $0; image.damage = ImageError(.truncated, "lie"); return image
      },
    ),
    (
      "info",
      {
        var image = $0; image.info = ImageInfo(format: format, storedWidth: .min, storedHeight: .max); return image
      },
    ),
    (
      "frames",
      {
        var image = $0; image.info.frameCount = .max; image.info.duration = .nan; return image
      },
    ),
    (
      "encoded",
      {
        var image = $0; image.encodedData = Data(count: 100); return image
      },
    ),
    (
      "metadata",
      {
        var image = $0; image.metadata = ImageMetadata(); return image
      },
    ),
    ("itself", { ImageContainer($0.bitmap) }),
    (
      "animation",
      {
        var image = $0
        var decoder = LyingDecoder(delays: [.nan, -1])
        decoder.info = { () throws(ImageError) in
          var info = ImageInfo(format: format, storedWidth: 8, storedHeight: 8)
          (info.frameCount, info.duration) = (2, 1)
          return info
        }
        image.animation = try AnimatedImage(file, decoders: DecoderRegistry([decoder]))
        return image
      },
    ),
  ]
  var all: [Case] = []
  for (name, body) in bodies {
    for id in ["a", "", "a > b", "\0", "ü\n", String(repeating: "long", count: 100_000)] {
      for previews in [true, false] {
        let processor = ImageProcessor.customContainer(id: id, processesPreviews: previews, body)
        all.append(
          Case("processor, \(name), id of \(id.utf8.count), \(previews)") {
            let cache = try DiskLike.temporary()
            let pipeline = pipeline(pictures) { ($0.diskCache, $0.storagePolicy) = (cache, .both) }
            var request = ImageRequest(url: address)
            request.processors = [processor, .blur(radius: 2), processor]
            let image = try await pipeline.image(for: request)
            await cache.flush()
            pipeline.configuration.memoryCache?.removeAll()
            let again = try await pipeline.image(for: request)
            _ = try await pipeline.encoded(for: request, as: .automatic())
            guard image.width == again.width else { throw Wrong(description: "\(again.width) and \(image.width)") }
            return "\(image.width)x\(image.height)"
          }
        )
      }
    }
  }
  for number in times {
    let steps: [ImageProcessor] = [
      .blur(radius: .pixels(number)), .roundedCorners(radius: .pixels(number)),
    ]
    for (index, step) in steps.enumerated() {
      all.append(
        Case("processor \(index) of \(number)") {
          let image = try step.process(ImageContainer(bitmap(9, 9)))
          return "\(image.bitmap.width)"
        }
      )
    }
  }
  for width in sides {
    for height in [1, Int.max, 0, -1] {
      for mode in [TargetSize.Mode.fit, .fill, .exact] {
        all.append(
          Case("size \(width)x\(height) \(mode)") {
            let image = try ImageProcessor.resize(.pixels(Double(width), Double(height), mode, enlarges: true)).process(
              ImageContainer(bitmap(9, 9))
            )
            return "\(image.bitmap.width)x\(image.bitmap.height)"
          }
        )
        all.append(
          Case("decode at \(width)x\(height) \(mode)") {
            var options = DecodeOptions()
            options.size = .pixels(Double(width), Double(height), mode, enlarges: true)
            let image = try DecoderRegistry.standard.decode(picture, options)
            return "\(image.bitmap.width)x\(image.bitmap.height)"
          }
        )
      }
      all.append(
        Case("region at \(width), \(height)") {
          var options = DecodeOptions()
          options.region = PixelRegion(x: width, y: height, width: width, height: height)
          let image = try DecoderRegistry.standard.decode(picture, options)
          return "\(image.bitmap.width)x\(image.bitmap.height)"
        }
      )
      all.append(
        Case("limits of \(width), \(height)") {
          var options = DecodeOptions()
          (options.limits.pixelCount, options.limits.memoryByteCount, options.frame) = (width, height, width)
          return "\(try DecoderRegistry.standard.decode(picture, options).bitmap.width)"
        }
      )
    }
  }
  return all
}
