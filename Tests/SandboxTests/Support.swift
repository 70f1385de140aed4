import Testing
import VitrineAVIF
import VitrineHEIF
import VitrineImaging
import VitrineJXL
import VitrineRuntime
import VitrineSVG
import VitrineSandbox
import VitrineTIFF
import VitrineTesting

extension Sandbox {
  /// A sandbox of the built program, or of another.
  static func built(
    _ program: String = "vitrine-codecs",
    _ configure: (inout Configuration) -> Void = { _ in },
  ) throws -> Sandbox {
    let path = try #require(BuiltProgram.path(program))
    return try Sandbox {
      $0.program = path
      configure(&$0)
    }
  }

  /// A sandbox of the program that has been taken over.
  static func rogue(_ configure: (inout Configuration) -> Void = { _ in }) throws -> Sandbox {
    try built("rogue") {
      $0.processes = 1
      $0.startsAhead = false
      configure(&$0)
    }
  }
}

/// The decoders of all formats, in this process.
let ownDecoders: DecoderRegistry = {
  var decoders = DecoderRegistry.standard
  decoders.add(AVIFDecoder())
  decoders.add(HEIFDecoder())
  decoders.add(JXLDecoder())
  decoders.add(TIFFDecoder())
  decoders.add(SVGDecoder())
  return decoders
}()

/// The encoded images among the fixtures of other tests, and of the corpus.
enum Files {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  static func data(_ name: String) throws -> Data {
    let path = name.hasPrefix("/") ? name : tests.appending(path: name).path
    return try Data(contentsOf: URL(filePath: path))
  }

  /// The paths of fixtures below `Tests`, without the references.
  static let fixtures: [String] = ["ImagingTests/Fixtures", "CodecTests/Fixtures"].flatMap { folder in
    let names = (try? FileManager.default.contentsOfDirectory(atPath: tests.appending(path: folder).path)) ?? []
    return names.filter { $0.contains(".") && !$0.contains("reference") && !$0.hasSuffix(".md") }.sorted().map {
      "\(folder)/\($0)"
    }
  }

  static let corpus: [String] = {
    guard let folder = ProcessInfo.processInfo.environment["VITRINE_CORPUS"] else { return [] }
    let endings = [
      "jpg", "jpeg", "png", "gif", "webp", "avif", "heic", "jxl", "tiff", "tif", "bmp", "ico", "svg", "qoi",
    ]
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    return names.filter { name in
      endings.contains { name.hasSuffix(".\($0)") } && !name.contains("/reference/")
    }
    .sorted().map { "\(folder)/\($0)" }
  }()
}

/// The result of a question, to compare: the answer or the error.
struct Outcome: Equatable, CustomTestStringConvertible {
  var error: ImageError?
  var info: ImageInfo?
  var damage: ImageError?
  var size: [Int] = []
  var alpha: Bitmap.Alpha?
  var pixels = Data()

  static func of(_ body: () throws(ImageError) -> ImageContainer?) -> Outcome {
    do throws(ImageError) {
      guard let image = try body() else { return Outcome() }
      return Outcome(
        info: image.info,
        damage: image.damage,
        size: [image.bitmap.width, image.bitmap.height],
        alpha: image.bitmap.alpha,
        pixels: unsafe image.bitmap.withUnsafeBytes { unsafe Data($0) },
      )
    } catch {
      return Outcome(error: error)
    }
  }

  var testDescription: String {
    let result = error.map { "\($0.code): \($0.detail)" } ?? "\(size), \(alpha.map { "\($0)" } ?? "no alpha")"
    return "\(result), \(info.map { "\($0)" } ?? "no info"), \(damage.map { "\($0)" } ?? "whole"), \(pixels.hashValue)"
  }
}

/// The reason for which `body` fails; `nil`, and a failed test, when it does not.
func failure<R>(
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> R,
) -> ImageError? {
  #expect(throws: ImageError.self, sourceLocation: sourceLocation) { _ = try body() }
}
