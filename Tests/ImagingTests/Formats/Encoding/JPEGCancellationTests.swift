import Testing
import VitrineImaging
import VitrineRuntime

/// JPEGs that nobody wants any more while they are written, by libjpeg.
@Suite(.enabled(if: !Shape.isApple))
struct JPEGCancellationTests {
  /// The metadata stand before the pixels, and fill libjpeg's first buffer of 4 KB if there are many.
  private static func picture(exifByteCount: Int) -> ImageContainer {
    var file = EXIFFile()
    let text = String(repeating: "n", count: exifByteCount - 100)
    file.main = [file.text(0x010F, "Vitrine Optics"), file.text(0x010E, text)]
    var image = ImageContainer(Bitmap.busy(width: 300, height: 200, alpha: false))
    image.metadata = .made(exif: file.data)
    return image
  }

  /// Encodes, and cancels when the encoder asks for the `last` time.
  private static func encode(
    _ image: ImageContainer,
    _ encoding: ImageEncoding,
    cancelledAt last: Int = .max,
  ) -> (error: ImageError?, asked: Int) {
    let asked = Lock(0)
    do throws(ImageError) {
      _ = try EncoderRegistry.standard.encode(image, as: encoding) {
        asked.withLock { asked in
          asked += 1
          return asked >= last
        }
      }
      return (nil, asked.withLock { $0 })
    } catch {
      return (error, asked.withLock { $0 })
    }
  }

  /// With 4 KB and more the buffer of the file has moved when encoding stops.
  @Test(arguments: [1, 5, 20, 60])
  func encodingStopsBehindMetadata(kilobytes: Int) {
    let image = Self.picture(exifByteCount: kilobytes << 10)
    for last in 2...16 {
      let (error, asked) = Self.encode(image, .jpeg().metadata(.keep), cancelledAt: last)
      #expect(error?.isCancellation == true)
      #expect(asked == last)
    }
  }

  /// The tables are optimised, and the scans made, when the last row has been taken.
  @Test(arguments: [false, true])
  func encodingStopsBehindTheLastRow(isProgressive: Bool) {
    let image = Self.picture(exifByteCount: 5 << 10)
    let encoding = ImageEncoding.jpeg(isProgressive: isProgressive).metadata(.keep)
    let all = Self.encode(image, encoding)
    #expect(all.error == nil)
    // Once by the registry, and for every 16 rows of 200.
    let rows = 1 + 13
    #expect(all.asked > rows)
    for last in rows + 1...all.asked {
      #expect(Self.encode(image, encoding, cancelledAt: last).error?.isCancellation == true)
    }
  }
}
