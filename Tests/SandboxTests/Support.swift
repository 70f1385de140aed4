import Testing
import VitrineAVIF
import VitrineHEIF
import VitrineImaging
import VitrineJXL
import VitrineRuntime
import VitrineSVG
import VitrineSandbox
import VitrineTIFF
import VitrineTestSupport

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

/// The result of a question, to compare: the answer or the error.
struct Outcome: Equatable, CustomTestStringConvertible {
  var error: ImageError?
  var info: ImageInfo?
  var damage: ImageError?
  var size: [Int] = []
  var alpha: Bitmap.Alpha?
  var pixels = Data()
  var gains = Data()
  var formula: GainMapFormula?

  static func of(_ body: () throws(ImageError) -> ImageContainer?) -> Outcome {
    do throws(ImageError) {
      guard let image = try body() else { return Outcome() }
      return Outcome(
        info: image.info,
        damage: image.damage,
        size: [image.bitmap.width, image.bitmap.height],
        alpha: image.bitmap.alpha,
        pixels: unsafe image.bitmap.withUnsafeBytes { unsafe Data($0) },
        gains: unsafe image.gainMap?.bitmap.withUnsafeBytes { unsafe Data($0) } ?? Data(),
        formula: image.gainMap?.formula,
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

extension DecodeOptions {
  /// Options without any limit.
  static var unlimited: DecodeOptions {
    var options = DecodeOptions()
    for limit in [
      \DecodeLimits.pixelCount, \.heldPixelCount, \.composedPixelCount, \.side, \.outputByteCount, \.memoryByteCount,
      \.frameCount, \.warningCount, \.metadataByteCount,
    ] { options.limits[keyPath: limit] = .max }
    return options
  }
}
