import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Real files with references that other decoders made.
@Suite(.needsCorpus)
struct CorpusTests {
  /// The reference of a file lies in a tree beside it, with another ending behind the name.
  static func reference(_ path: String) throws -> Bitmap { try Bitmap(decoding: Corpus.data(referencePath(path))) }

  static func referencePath(_ path: String) -> String { path.replacing("/images/", with: "/reference/") + ".png" }

  /// The files of a format that have a reference.
  static func compared(_ format: String) -> [String] {
    let references = Set(Corpus.files(in: "formats/tests/reference/\(format)", ending: ".png"))
    return Corpus.files(in: "formats/tests/images/\(format)", ending: ".\(format)")
      .filter { references.contains(referencePath($0)) }
  }

  // 16 bits become 8 by rounding here and by whatever the reference's reader does there: one level.
  @Test(arguments: compared("png"))
  func aPNGEqualsItsReference(path: String) throws {
    let file = try Corpus.data(path)
    let expected = try Self.reference(path)

    let decoded = try decode(file)

    #expect(decoded.bitmap.largestDifference(from: expected) <= (decoded.info.bitsPerComponent == 16 ? 1 : 0))
  }

  /// The frames of animated files that have a reference.
  static let frames: [(path: String, frame: Int)] = Corpus.files(
    in: "formats/tests/reference/png/apng",
    ending: ".png",
  )
  .compactMap { path in
    let parts = path.split(separator: ".png.anim_")
    guard parts.count == 2, let number = Int(parts[1].prefix(2)) else { return nil }
    return ("\(parts[0]).png".replacing("/reference/", with: "/images/"), number - 1)
  }

  @Test(arguments: frames)
  func aFrameOfAnAPNGEqualsItsReference(path: String, frame: Int) throws {
    let name = "\(frame + 1)"
    let reference = path.replacing("/images/", with: "/reference/") + ".anim_\(name.count < 2 ? "0" : "")\(name).png"

    let bitmap = try decode(Corpus.data(path)) { $0.frame = frame }.bitmap

    let expected = try Bitmap(decoding: Corpus.data(reference))
    #expect(bitmap.premultiplied().largestDifference(from: expected.premultiplied()) <= 1)
  }

  @Test(
    arguments: Corpus.files(in: "formats/tests/images/gif", ending: ".gif")
      + Corpus.files(in: "formats/tests/images/png/apng", ending: ".png")
      + Corpus.files(in: "formats/tests/images/webp", ending: ".webp")
  )
  func everyFrameOfAnAnimationDecodes(path: String) throws {
    let file = try Corpus.data(path)
    let header = try info(file)

    #expect(try DecoderRegistry.standard.frameDelays(of: file).count == header.frameCount)
    for frame in 0..<header.frameCount {
      let bitmap = try decode(file, .pixels(32, 32)) { $0.frame = frame }.bitmap
      #expect(max(bitmap.width, bitmap.height) <= 32)
    }
  }

  @Test(arguments: Corpus.files(in: "photos/jpg", ending: ".jpg"))
  func whatACameraWritesMakesSense(path: String) throws {
    let file = try Corpus.data(path)
    guard let metadata = try? DecoderRegistry.standard.metadata(of: file) else { return }
    let fields = metadata.fields

    #expect(fields.make != "" && fields.model != "")
    if let time = fields.exposureTime { #expect((0..<3600).contains(time)) }
    if let number = fields.fNumber { #expect((0...100).contains(number)) }
    if let year = fields.original?.year { #expect((1990...2100).contains(year)) }
  }

  // The reference cuts a first frame that is larger than the screen.
  @Test(arguments: compared("gif").filter { !$0.hasSuffix("oversized.gif") })
  func aGIFEqualsItsReference(path: String) throws {
    let file = try Corpus.data(path)
    let expected = try Self.reference(path)

    let bitmap = try Bitmap(decoding: file)

    // What is transparent has no colour to compare.
    #expect(bitmap.premultiplied().largestDifference(from: expected.premultiplied()) == 0)
  }

  // The reference shows what runs pass over in black, and knows no profiles.
  @Test(arguments: compared("bmp").filter { !$0.hasSuffix("prof2.bmp") })
  func aBMPEqualsItsReference(path: String) throws {
    let file = try Corpus.data(path)
    let expected = try Self.reference(path)

    let bitmap = try Bitmap(decoding: file)

    // Where all alpha is 0 the reference shows nothing.
    let isVisible = expected.pixels.contains { $0.w > 0 }
    let isSame = zip(bitmap.pixels, expected.pixels).allSatisfy { own, other in
      own == other || (own == SIMD4() && other == SIMD4(0, 0, 0, 255))
        || (!isVisible && own == SIMD4(other.x, other.y, other.z, 255))
    }
    #expect(isSame && bitmap.size == expected.size)
  }

  @Test(arguments: compared("ico"))
  func anIconEqualsItsReference(path: String) throws {
    let bitmap = try Bitmap(decoding: Corpus.data(path))

    #expect(bitmap.premultiplied().largestDifference(from: try Self.reference(path).premultiplied()) == 0)
  }

  @Test(
    arguments: Corpus.files(in: "formats/tests/images/bmp", ending: ".bmp")
      + Corpus.files(in: "formats/tests/images/ico", ending: ".ico")
      + Corpus.files(in: "formats/tests/images/qoi", ending: ".qoi")
  )
  func whatBreaksRulesDecodesOrSaysWhyNot(path: String) throws {
    let file = try Corpus.data(path)

    do throws(ImageError) {
      let bitmap = try Bitmap(decoding: file)
      #expect(try Bitmap(decoding: file, size: .pixels(8, 8)).width <= 8)
      #expect(bitmap.pixels.contains { $0.w > 0 })
    } catch {
      #expect([.corrupt, .truncated].contains(error.code), "\(error)")
      #expect(path.contains("lenient") || path.contains("truncated"))
    }
  }

  @Test(arguments: compared("webp"))
  func aWebPIsCloseToItsReference(path: String) throws {
    let file = try Corpus.data(path)
    let expected = try Self.reference(path)

    let bitmap = try Bitmap(decoding: file)

    let isLossless = path.contains("lossless")
    #expect(bitmap.premultiplied().psnr(against: expected.premultiplied()) > (isLossless ? 100 : 40))
  }

  @Test(arguments: compared("jpg"))
  func aJPEGIsCloseToItsReference(path: String) throws {
    let file = try Corpus.data(path)
    let expected = try Self.reference(path)

    // The reference's decoder has a transform of its own.
    #expect(try Bitmap(decoding: file).psnr(against: expected) > 38)
  }

  @Test(arguments: Corpus.files(in: "webp", ending: ".webp").filter { $0.contains("lossless_vec_") })
  func aLosslessWebPVectorIsExact(path: String) throws {
    let reference = path.contains("_vec_1_") ? "webp/grid.png" : "webp/peak.png"

    let bitmap = try Bitmap(decoding: Corpus.data(path))

    let expected = try Bitmap(decoding: Corpus.data(reference))
    #expect(bitmap.largestDifference(from: expected) == 0)
  }

  @Test(arguments: Corpus.files(in: "webp", ending: ".webp").filter { !$0.contains("lossless_vec_") })
  func aWebPVectorDecodesOrSaysWhyNot(path: String) throws {
    let file = try Corpus.data(path)

    do throws(ImageError) {
      let bitmap = try Bitmap(decoding: file, size: .pixels(64, 64))
      #expect(max(bitmap.width, bitmap.height) <= 64)
    } catch {
      #expect([.corrupt, .truncated].contains(error.code), "\(error)")
      #expect(path.contains("bad") || path.contains("short"))
    }
  }

  @Test(arguments: ["Landscape", "Portrait"], 0...8)
  func everyOrientationOfAPhotographLooksTheSame(name: String, orientation: Int) throws {
    let size = TargetSize.pixels(90, 90)
    let upright = try Bitmap(decoding: Corpus.data("orientation/\(name)_1.jpg"), size: size)

    let turned = try Bitmap(decoding: Corpus.data("orientation/\(name)_\(orientation).jpg"), size: size)

    // Another number is written into each of them.
    #expect(turned.size == upright.size)
    #expect(turned.psnr(against: upright) > 22)
  }

  @Test(arguments: Corpus.files(in: "photos/jpg", ending: ".jpg"))
  func aCameraPhotographDecodesOrSaysWhyNot(path: String) throws {
    let file = try Corpus.data(path)

    do throws(ImageError) {
      let decoded = try decode(file, .pixels(64, 64))
      #expect(max(decoded.bitmap.width, decoded.bitmap.height) <= 64)
      #expect((decoded.info.width > decoded.info.height) == (decoded.bitmap.width > decoded.bitmap.height))
    } catch {
      #expect([.corrupt, .truncated].contains(error.code), "\(error)")
    }
  }

  @Test(
    arguments: Corpus.files(in: "formats/tests/bad", ending: "")
      + Corpus.files(in: "formats/tests/regression", ending: "")
  )
  func aBadFileIsAnErrorOrAPicture(path: String) throws {
    // Folders are among them.
    guard let file = try? Corpus.data(path) else { return }

    _ = try? decode(file, .pixels(16, 16))
  }
}
