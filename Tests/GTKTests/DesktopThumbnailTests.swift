import CGTK
import Vitrine
import VitrineRuntime
import VitrineTesting
import XCTest

@testable import VitrineGTK

final class DesktopThumbnailTests: XCTestCase {
  private let small = TargetSize.pixels(128)

  /// Returns the colour of the picture that is shown for a file.
  private func color(
    _ folder: DesktopFolder,
    _ path: String,
    _ size: TargetSize? = .pixels(128),
    in pipeline: ImagePipeline = .testing(),
    _ change: (inout ImageRequest) -> Void = { _ in },
  ) async throws -> SIMD4<UInt8> {
    var request = ImageRequest(.file(path), size: size)
    change(&request)
    let image = try await pipeline.image(for: folder.thumbnails.preferred(for: request))
    return image[image.width / 2, image.height / 2]
  }

  private func assertRed(_ color: SIMD4<UInt8>, _ what: String = "", line: UInt = #line) {
    // A JPEG is not exactly red.
    XCTAssertTrue(color.x > 250 && color.y < 5 && color.z < 5, "\(color) \(what)", line: line)
  }

  func testAValidThumbnailStandsForTheFile() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file()
    let place = try folder.makeThumbnail(of: path)
    let before = try Data(contentsOf: place)
    let shown = try await color(folder, path)
    XCTAssertEqual(shown, DesktopFolder.blue)
    XCTAssertEqual(try Data(contentsOf: place), before)
    let sized = try folder.texts(of: path) + [("Thumb::Size", "\(XCTUnwrap(ByteString(path).status()).st_size)")]
    try folder.makeThumbnail(of: path, DesktopFolder.green, texts: sized)
    let shownAgain = try await color(folder, path)
    XCTAssertEqual(shownAgain, DesktopFolder.green)
  }

  func testAThumbnailOfAnotherFileOrVersionIsNotUsed() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file()
    let valid = try folder.texts(of: path)
    let wrong: [[(String, String)]] = [
      [],
      [valid[0]],
      [valid[1]],
      [valid[0], ("Thumb::MTime", "\(try XCTUnwrap(Int(valid[1].1)) - 1)")],
      [valid[0], ("Thumb::MTime", "")],
      [valid[0], ("Thumb::MTime", "99999999999999999999")],
      [("Thumb::URI", valid[0].1 + "2"), valid[1]],
      [("Thumb::URI", "file:///"), valid[0], valid[1]],
      valid + [("Thumb::Size", "1")],
    ]
    for texts in wrong {
      try folder.makeThumbnail(of: path, texts: texts)
      let shown = try await color(folder, path)
      assertRed(shown, "\(texts)")
    }
  }

  func testTheSmallestThumbnailWithEnoughPixelsIsUsed() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file()
    try folder.makeThumbnail(of: path, DesktopFolder.green)
    try folder.makeThumbnail(of: path, DesktopFolder.blue, width: 256, height: 192, in: "large")
    let sizes: [(TargetSize, SIMD4<UInt8>?)] = [
      (.pixels(128), DesktopFolder.green), (.pixels(96, .fill), DesktopFolder.green),
      (.pixels(128, 96, .exact), DesktopFolder.green), (.pixels(height: 96), DesktopFolder.green),
      (.pixels(300, 90), DesktopFolder.green), (.pixels(width: 128.4), DesktopFolder.green),
      // A thumbnail of 128 x 96 pixels does not cover these.
      (.pixels(97, .fill), DesktopFolder.blue), (.pixels(128, 97, .exact), DesktopFolder.blue),
      (.pixels(129), DesktopFolder.blue), (.pixels(height: 97), DesktopFolder.blue),
      // Nor does the larger one these.
      (.pixels(257), nil), (.pixels(193, .fill), nil), (.pixels(1025), nil), (.pixels(width: 5000), nil),
    ]
    for (size, expected) in sizes {
      let shown = try await color(folder, path, size)
      if let expected { XCTAssertEqual(shown, expected, "\(size)") } else { assertRed(shown, "\(size)") }
    }
  }

  func testAThumbnailSmallerThanTheSizeIsUsedOnlyIfItIsTheWholePicture() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file()
    let valid = try folder.texts(of: path)
    for (width, isWhole) in [("100", true), ("101", false)] {
      let texts = valid + [("Thumb::Image::Width", width), ("Thumb::Image::Height", "80")]
      try folder.makeThumbnail(of: path, width: 100, height: 80, texts: texts)
      let shown = try await color(folder, path)
      if isWhole { XCTAssertEqual(shown, DesktopFolder.blue) } else { assertRed(shown) }
    }
    // No thumbnail of that folder is so large.
    try folder.makeThumbnail(of: path, width: 129, height: 96)
    let shown = try await color(folder, path)
    assertRed(shown)
  }

  func testNamesOfFilesAreEncodedAsGLibDoes() async throws {
    let folder = try DesktopFolder()
    let names = [
      "a b.jpg", "Käse ñ.jpg", "Ka\u{308}se.jpg", "100%25 #1?.jpg", "[x]{y}|^`\"<>\\.jpg", "日本.jpg", "~(a)!*'.jpg",
    ]
    for name in names {
      let path = try folder.file(name)
      try folder.makeThumbnail(of: path)
      let shown = try await color(folder, path)
      XCTAssertEqual(shown, DesktopFolder.blue, name)
    }
    // The name in the standard's own way, so that not only GLib is compared with itself.
    let path = try folder.file("ä%.jpg")
    let uri = "file://" + folder.root.path + "/%C3%A4%25.jpg"
    try folder.makeThumbnail(of: path, texts: [("Thumb::URI", uri), try folder.texts(of: path)[1]])
    let shown = try await color(folder, path)
    XCTAssertEqual(shown, DesktopFolder.blue)
  }

  func testTheSamePathWrittenInAnotherWayHasTheSameThumbnail() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file()
    try folder.makeThumbnail(of: path)
    let shown = try await color(folder, folder.root.path + "//cache/.././a.jpg")
    XCTAssertEqual(shown, DesktopFolder.blue)
    let request = ImageRequest(.url(URL(filePath: path)), size: small)
    let image = try await ImagePipeline.testing().image(for: folder.thumbnails.preferred(for: request))
    XCTAssertEqual(image[0, 0], DesktopFolder.blue)
  }

  func testAFileWhoseNameIsNotUTF8HasAThumbnail() throws {
    let folder = try DesktopFolder()
    let path = ByteString(folder.root.path + "/") + ByteString(bytes: [0xE9, 0x20, 0x61])
    let file = unsafe path.withCString { unsafe open($0, O_CREAT | O_WRONLY, 0o600) }
    try XCTSkipIf(file < 0, "this file system wants UTF-8")
    close(file)
    let png = try DesktopFolder.png(DesktopFolder.blue, 128, 96, try folder.texts(of: path))
    try png.write(to: folder.place(of: path))
    XCTAssertEqual(try folder.thumbnails.thumbnail(of: path, for: small), png)
    XCTAssertTrue(try folder.texts(of: path)[0].1.hasSuffix("/%E9%20a"))
  }

  func testDamagedAndStrangeThumbnailsArePassedOver() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file()
    let place = try folder.makeThumbnail(of: path)
    let good = try Data(contentsOf: place)
    let elsewhere = folder.root.appending(path: "elsewhere.png")
    try good.write(to: elsewhere)
    for count in [0, 8, 20, 33, 60, good.count - 12, good.count - 1] {
      try Data(good.prefix(count)).write(to: place)
      let shown = try await color(folder, path)
      assertRed(shown, "\(count) bytes")
    }
    // Whole chunks around pixels that cannot be inflated.
    try DesktopFolder.undecodable(folder.texts(of: path)).write(to: place)
    var shown = try await color(folder, path)
    assertRed(shown, "garbage")
    // What is no regular file of a reasonable size.
    try Data(good + [UInt8](repeating: 0, count: 8 << 20)).write(to: place)
    shown = try await color(folder, path)
    assertRed(shown, "too large")
    try FileManager.default.removeItem(at: place)
    XCTAssertEqual(unsafe symlink(elsewhere.path, place.path), 0)
    shown = try await color(folder, path)
    assertRed(shown, "link")
    try FileManager.default.removeItem(at: place)
    XCTAssertEqual(unsafe mkfifo(place.path, 0o600), 0)
    shown = try await color(folder, path)
    assertRed(shown, "FIFO")
    try FileManager.default.removeItem(at: place)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    shown = try await color(folder, path)
    assertRed(shown, "folder")
  }

  func testRequestsThatAThumbnailCannotServeAreUnchanged() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file()
    try folder.makeThumbnail(of: path)
    let changes: [(String, (inout ImageRequest) -> Void)] = [
      ("quality", { $0.quality = .best }), ("frame", { $0.frame = 1 }), ("colours", { $0.colorSpace = .displayP3 }),
      ("range", { $0.dynamicRange = .high }), ("bytes", { $0.keepsEncodedData = true }),
      ("filter", { $0.filter = .box }), ("light", { $0.usesLinearLight = true }), ("size", { $0.size = nil }),
      ("large", { $0.size = .pixels(1025) }), ("no file", { $0.source = .url("https://example.org/a.jpg") }),
    ]
    for (name, change) in changes {
      var request = ImageRequest(.file(path), size: small)
      change(&request)
      XCTAssertEqual(folder.thumbnails.preferred(for: request), request, name)
    }
    let fast = try await color(folder, path) { $0.quality = .fast }
    XCTAssertEqual(fast, DesktopFolder.blue)
  }

  func testOnlyAStillFileHasAThumbnailWhereAnimationsMove() async throws {
    let folder = try DesktopFolder()
    let (still, moving) = (try folder.file("a.jpg"), try folder.file("a.gif", .gif))
    for path in [still, moving] { try folder.makeThumbnail(of: path) }
    var shown = try await color(folder, still) { $0.animates = true }
    XCTAssertEqual(shown, DesktopFolder.blue)
    shown = try await color(folder, moving) { $0.animates = true }
    assertRed(shown)
    shown = try await color(folder, moving)
    XCTAssertEqual(shown, DesktopFolder.blue)
  }

  func testAFileThatHasGoneOrIsNoImageFailsAsWithoutThumbnails() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file()
    try folder.makeThumbnail(of: path)
    try FileManager.default.removeItem(atPath: path)
    try await assertSameError(folder, path, .unreadable)
    try Data("no image".utf8).write(to: URL(filePath: path))
    try DesktopFolder.undecodable(folder.texts(of: path)).write(to: folder.place(of: path))
    try await assertSameError(folder, path, .undecodable)
  }

  private func assertSameError(_ folder: DesktopFolder, _ path: String, _ code: LoadError.Code) async throws {
    let request = ImageRequest(.file(path), size: small)
    var errors: [LoadError] = []
    for request in [request, folder.thumbnails.preferred(for: request)] {
      do throws(LoadError) { _ = try await ImagePipeline.testing().image(for: request) } catch { errors.append(error) }
    }
    XCTAssertEqual(errors.map(\.code), [code, code])
    XCTAssertEqual(Set(errors.map(\.description)).count, 1, "\(errors)")
  }

  func testAFileURLThatIsForbiddenShowsNoThumbnail() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file()
    try folder.makeThumbnail(of: path)
    let strict = ImagePipeline.testing { $0.allowsFileURLs = false }
    let request = ImageRequest(.url(URL(filePath: path)), size: small)
    do throws(LoadError) {
      _ = try await strict.image(for: folder.thumbnails.preferred(for: request))
      XCTFail("it was shown")
    } catch {
      XCTAssertEqual(error.code, .forbidden)
    }
  }

  func testThumbnailsHaveNoThumbnails() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file("cache/thumbnails/large/a.jpg")
    try folder.makeThumbnail(of: path)
    let shown = try await color(folder, path)
    assertRed(shown)
  }

  func testAThumbnailNeverBecomesTheImageOfTheFile() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file()
    try folder.makeThumbnail(of: path)
    let pipeline = ImagePipeline.testing()
    let request = ImageRequest(.file(path), size: small)
    let preferred = folder.thumbnails.preferred(for: request)
    let shown = try await color(folder, path, in: pipeline)
    XCTAssertEqual(shown, DesktopFolder.blue)
    XCTAssertNotNil(pipeline.cachedImage(for: preferred))
    XCTAssertNil(pipeline.cachedImage(for: request))
    // It may be a placeholder, that knows how little it is.
    let variant = try XCTUnwrap(pipeline.cachedVariant(for: ImageRequest(.file(path), size: .pixels(256))))
    XCTAssertEqual(variant.image[0, 0], DesktopFolder.blue)
    XCTAssertEqual(variant.pixelRatio, 0.5, accuracy: 0.01)
    XCTAssertEqual(pipeline.cachedVariant(for: ImageRequest(.file(path)))?.pixelRatio, 0)
    for size in [small, .pixels(64), .pixels(64, .fill)] {
      let image = try await pipeline.image(for: ImageRequest(.file(path), size: size))
      assertRed(image[0, 0], "\(size)")
    }
    let encoded = try await pipeline.encoded(for: request, as: .png())
    assertRed(try DecoderRegistry.standard.decode(encoded.data).bitmap[0, 0])
    let again = try XCTUnwrap(pipeline.cachedImage(for: preferred))
    XCTAssertEqual(again.image[0, 0], DesktopFolder.blue)
    await pipeline.cache.remove(request)
    XCTAssertNil(pipeline.cachedImage(for: preferred))
  }

  func testFilesWithoutThumbnailsAreKeptUnderTheirOwnKeys() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file()
    let pipeline = ImagePipeline.testing()
    let shown = try await color(folder, path, in: pipeline)
    assertRed(shown)
    XCTAssertNotNil(pipeline.cachedImage(for: ImageRequest(.file(path), size: small)))
  }

  func testAThumbnailThatGdkPixbufWroteIsUsed() async throws {
    let folder = try DesktopFolder()
    let path = try folder.file("ein Bild.jpg")
    let pixbuf = unsafe try XCTUnwrap(gdk_pixbuf_new_from_file_at_size(path, 128, 128, nil))
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(pixbuf)) }
    unsafe gdk_pixbuf_fill(pixbuf, 0x0000_FFFF)
    let texts = try folder.texts(of: path)
    let (keys, values) = (texts.map { "tEXt::" + $0.0 }, texts.map(\.1))
    var (names, contents) = unsafe (keys.map { unsafe strdup($0) } + [nil], values.map { unsafe strdup($0) } + [nil])
    defer { unsafe (names + contents).forEach { unsafe free($0) } }
    XCTAssertNotEqual(unsafe gdk_pixbuf_savev(pixbuf, folder.place(of: path).path, "png", &names, &contents, nil), 0)
    let shown = try await color(folder, path)
    XCTAssertEqual(shown, DesktopFolder.blue)
  }
}

final class PictureThumbnailTests: WidgetTestCase {
  @MainActor
  private static func colorShown(_ folder: DesktopFolder, _ path: String, uses: Bool) throws -> SIMD4<UInt8> {
    let picture = RemotePicture(.testing(), width: 64, height: 48)
    XCTAssertTrue(picture.usesDesktopThumbnails)
    if uses { picture.view.thumbnails = folder.thumbnails } else { picture.usesDesktopThumbnails = false }
    let window = unsafe TestWindow(picture.widget)
    picture.load(ImageRequest(.file(path)))
    MainLoop.turn { if case .image = picture.content { true } else { false } }
    defer { window.close() }
    return try XCTUnwrap(picture.view.image).bitmap[0, 0]
  }

  func testAPictureShowsTheThumbnailOfItsFileUnlessItIsToldNotTo() throws {
    try MainActor.assumeIsolated {
      let folder = try DesktopFolder()
      let path = try folder.file()
      try folder.makeThumbnail(of: path, width: 512, height: 384, in: "x-large")
      XCTAssertEqual(try Self.colorShown(folder, path, uses: true), DesktopFolder.blue)
      XCTAssertGreaterThan(try Self.colorShown(folder, path, uses: false).x, 250)
    }
  }
}
