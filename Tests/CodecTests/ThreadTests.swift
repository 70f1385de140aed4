import Testing
import VitrineAVIF
import VitrineHEIF
import VitrineImaging
import VitrineJXL
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Codecs that decode one picture on several threads: the same answers as on one.
struct ThreadTests {
  private static let decoders: [any ImageDecoder] = [AVIFDecoder(), HEIFDecoder(), JXLDecoder()]

  /// Decodes all rows with a number of threads, however small the picture is.
  private static func rows(
    of file: Data,
    threadCount: Int,
    _ control: DecodeControl = DecodeControl(isCancelled: nil, timeLimit: nil),
  ) throws(ImageError) -> [UInt8] {
    let result: Result<[UInt8], ImageError> = unsafe file.withUnsafeBytes { bytes in
      do throws(ImageError) {
        guard let format = ImageFormat.sniff(file),
          let decoder = decoders.first(where: { $0.formats.contains(format) }),
          let info = try unsafe decoder.info(of: bytes, format: format, limits: DecodeLimits()),
          let source = try unsafe decoder.open(
            bytes,
            RowRequest(info: info, minimumScale: 1, threadCount: threadCount, control: control),
          )
        else { throw ImageError(.unsupported, "no decoder") }
        let pixels = UnsafeMutableRawBufferPointer.allocate(byteCount: source.width * source.height * 4, alignment: 4)
        defer { unsafe pixels.deallocate() }
        var row = 0
        while row < source.height {
          let start = row * source.width * 4
          let count = try unsafe source.read(
            into: UnsafeMutableRawBufferPointer(rebasing: pixels[start...]),
            bytesPerRow: source.width * 4,
            count: source.height - row,
          )
          guard count > 0 else { break }
          row += count
        }
        return .success(unsafe Array(pixels))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private static let large: [(name: String, file: Data)] = {
    let picture = Bitmap.noisy(width: 700, height: 600)
    let encodings: [(String, ImageEncoding)] = [
      ("avif", .avif(speed: 10)), ("jxl", .jxl(effort: 3)), ("lossless jxl", .jxl(isLossless: true, effort: 3)),
    ]
    return encodings.compactMap { name, encoding in (try? encoders.encode(picture, as: encoding)).map { (name, $0) } }
  }()

  @Test(arguments: [
    "lossy.heic", "alpha.heic", "grid.avif", "lossy-420.avif", "lossy.jxl", "alpha.jxl", "progressive.jxl",
  ])
  func theRowsAreTheSame(name: String) throws {
    let file = try Fixture.data(name)

    #expect(try Self.rows(of: file, threadCount: 4) == Self.rows(of: file, threadCount: 1))
  }

  @Test(arguments: ["avif", "jxl", "lossless jxl"])
  func theRowsOfALargerPictureAreTheSame(name: String) throws {
    let file = try #require(Self.large.first { $0.name == name }).file

    #expect(try Self.rows(of: file, threadCount: 8) == Self.rows(of: file, threadCount: 1))
  }

  @Test(.needsCorpus)
  func tilesOfAPhotographAreTheSame() throws {
    let file = try Corpus.data("photos/heic/IMG_5195.HEIC")

    #expect(try Self.rows(of: file, threadCount: 4) == Self.rows(of: file, threadCount: 1))
  }

  @Test(arguments: ["avif", "jxl", "lossless jxl"])
  func damageIsTheSameError(name: String) throws {
    let file = try #require(Self.large.first { $0.name == name }).file
    var generator = SplitMix64(seed: 26)
    for _ in 0..<8 {
      var spoiled = file.prefix(Int.random(in: file.count / 3...file.count, using: &generator))
      for _ in 0..<4 { spoiled[Int.random(in: 200..<spoiled.count, using: &generator)] ^= 0x55 }
      func code(_ threads: Int) -> ImageError.Code? {
        do throws(ImageError) {
          _ = try Self.rows(of: spoiled, threadCount: threads)
          return nil
        } catch {
          return error.code
        }
      }

      #expect(code(4) == code(1))
    }
  }

  @Test(arguments: ["jxl", "lossless jxl"])
  func cancellingStopsBetweenSteps(name: String) throws {
    let file = try #require(Self.large.first { $0.name == name }).file
    let calls = Watched(0)
    let control = DecodeControl(
      isCancelled: {
        calls.change { $0 += 1 }
        // Not at once, so that threads are at work.
        return calls.value > 1
      },
      timeLimit: nil,
    )

    #expect(failure { try Self.rows(of: file, threadCount: 4, control) }?.code == .cancelled)
  }

  @Test
  func theTimeLimitHoldsInThreadsToo() throws {
    let file = try #require(Self.large.first { $0.name == "jxl" }).file
    let control = DecodeControl(isCancelled: nil, timeLimit: .zero)

    #expect(failure { try Self.rows(of: file, threadCount: 4, control) }?.code == .outOfTime)
  }
}
