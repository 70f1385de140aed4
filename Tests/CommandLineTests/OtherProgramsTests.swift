import Foundation
import Testing
import VitrineImaging
import VitrineTesting

/// Debian's packages belong to Debian's Python, even if another one comes first in `PATH`.
private let python = "PATH=/usr/bin:$PATH python3"

/// Three files as exiftool and Pillow read them; `make check NAME=conformance PARTS=encoding` has many more.
@Suite(
  .enabled("exiftool or Pillow is not installed") {
    try await Tool().shell("exiftool -ver && \(python) -c 'import PIL'").status == 0
  }
)
struct OtherProgramsTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  /// Returns size, mode, number of frames and the pixel in the middle, as Pillow reads them.
  private func pillow(_ name: String) async throws -> String {
    let script = """
      from PIL import Image
      image = Image.open('\(name)')
      middle = image.convert('RGBA').getpixel((image.width // 2, image.height // 2))
      print(image.width, image.height, image.mode, getattr(image, 'n_frames', 1), 'icc_profile' in image.info, *middle)
      """
    let outcome = try await tool.shell("\(python) - <<'END'\n\(script)\nEND\n")
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Returns the values of tags, `-` for none, as exiftool reads them.
  private func exiftool(_ name: String) async throws -> String {
    let outcome = try await tool.shell("exiftool -n -f -s3 -Copyright -GPSLatitude -GPSLongitude \(name)")
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output.split(separator: "\n").joined(separator: " ")
  }

  @Test
  func metadataIsThereOrNot() async throws {
    var fields = EXIFFields()
    (fields.copyright, fields.latitude, fields.longitude) = ("Zoe", 51.5, -0.125)
    var image = ImageContainer(Bitmap.solid(SIMD4(200, 100, 50, 255), width: 60, height: 40))
    image.metadata = ImageMetadata(fields: fields)
    let original = try EncoderRegistry.standard.encode(image, as: .jpeg().metadata(.only(.copyright, .location))).data
    try tool.write(original, to: "a.jpg")

    for (policy, expected) in [("keep", "Zoe 51.5 -0.125"), ("copyright", "Zoe - -"), ("strip", "- - -")] {
      for name in ["b.webp", "b.png"] {
        #expect(try await tool.run("thumbnail", "a.jpg", "-o", name, "--metadata", policy).status == 0)
        #expect(try await exiftool(name) == expected, "\(name), \(policy)")
      }
    }
    let read = try await pillow("b.png").split(separator: " ").compactMap { Int($0) }
    try #require(read.count == 7)
    #expect(read[..<2] == [60, 40])
    for (found, color) in zip(read[3...], [200, 100, 50, 255]) { #expect(abs(found - color) <= 3) }
  }

  @Test
  func anAnimationMoves() async throws {
    try tool.photograph("houses-animated.webp", as: "a.webp")
    #expect(try await tool.run("thumbnail", "a.webp", "-o", "b.gif", "--size", "60", "--animated").status == 0)
    let image = try tool.image("b.gif")

    let words = try await pillow("b.gif").split(separator: " ").map(String.init)

    #expect(words[0] == "\(image.bitmap.width)" && words[1] == "\(image.bitmap.height)")
    #expect(words[3] == "\(image.info.frameCount)")
  }

  @Test
  func onlyColoursHaveAProfile() async throws {
    func wide(_ color: SIMD4<UInt8>) throws -> Data {
      try Bitmap.solid(color, width: 8, height: 8).converted(to: .displayP3).encoded(as: .png())
    }
    try tool.write(try wide(SIMD4(200, 90, 40, 255)), to: "color.png")
    try tool.write(try wide(SIMD4(85, 85, 85, 255)), to: "gray.png")

    // The numbers are those of Display P3, in which this colour is less saturated.
    #expect(try await pillow("color.png") == "8 8 RGB 1 True 186 96 54 255")
    #expect(try await pillow("gray.png") == "8 8 L 1 False 85 85 85 255")
  }
}
