import Foundation
import Testing
import VitrineImaging
import VitrineTesting

struct InfoCommandTests {
  let tool: Tool

  init() throws { tool = try Tool() }

  @Test
  func everyMemberOfTheContractIsThereForAPhotograph() async throws {
    try tool.photograph("waterfall-cliff-orientation-6.jpg", as: "a.jpg")

    let outcome = try await tool.run("info", "a.jpg", "--json")

    #expect(outcome.status == 0)
    let json = try #require(try outcome.json.first)
    #expect(
      Set(json.keys) == [
        "source", "format", "width", "height", "orientation", "frames", "hasAlpha", "colorProfile", "bitsPerComponent",
        "dynamicRange", "transfer", "headroom", "gainMapHeadroom", "bytes", "duration", "error", "stage",
      ]
    )
    #expect(json["source"] as? String == "a.jpg")
    #expect(json["format"] as? String == "jpeg")
    #expect(json["width"] as? Int == 900)
    #expect(json["height"] as? Int == 600)
    #expect(json["orientation"] as? Int == 6)
    #expect(json["frames"] as? Int == 1)
    #expect(json["hasAlpha"] as? Bool == false)
    #expect(json["colorProfile"] is NSNull)
    #expect(json["bitsPerComponent"] as? Int == 8)
    #expect(json["bytes"] as? Int == (try tool.data("a.jpg").count))
    #expect(json["duration"] as? Double == 0)
  }

  @Test
  func hashesAreThereWhenTheyAreAskedFor() async throws {
    try tool.photograph("waterfall-cliff-orientation-6.jpg", as: "a.jpg")
    try tool.write(Data("no image".utf8), to: "b.jpg")

    let outcome = try await tool.run("info", "--hashes", "--json", "a.jpg", "b.jpg")

    #expect(outcome.status == 1)
    let json = try outcome.json
    let hash = try ThumbHash(base64: #require(json[0]["thumbHash"] as? String))
    #expect(abs(hash.aspectRatio - 1.5) < 0.2)
    #expect(try BlurHash(#require(json[0]["blurHash"] as? String)).columns == 4)
    #expect(json[1]["thumbHash"] is NSNull && json[1]["blurHash"] is NSNull)
    let text = try await tool.run("info", "--hashes", "a.jpg").output
    #expect(text.contains("ThumbHash \(hash.base64), BlurHash "))
  }

  @Test
  func colorsAreThoseOfThePicture() async throws {
    try tool.write(try Bitmap.solid(SIMD4(255, 128, 0, 255), width: 40, height: 30).encoded(as: .png), to: "a.png")
    try tool.write(try Bitmap.gradient(width: 4, height: 4, alpha: 0).encoded(as: .png), to: "clear.png")
    try tool.photograph("boats-animated.gif", as: "c.gif")
    try tool.write(Data("no image".utf8), to: "d.jpg")

    let outcome = try await tool.run("info", "--colors", "--json", "a.png", "clear.png", "c.gif", "d.jpg")

    #expect(outcome.status == 1)
    let json = try outcome.json
    let palettes = json.map { $0["palette"] as? [[String: Any]] }
    #expect(json[0]["averageColor"] as? String == "#FF8000" && json[0]["dominantColor"] as? String == "#FF8000")
    #expect(palettes[0]?.count == 1)
    #expect(palettes[0]?.first?["color"] as? String == "#FF8000" && palettes[0]?.first?["share"] as? Double == 1)
    #expect(json[1]["averageColor"] is NSNull && json[1]["dominantColor"] is NSNull && palettes[1]?.count == 0)
    #expect(palettes[2]?.count == 6)
    let shares = try #require(palettes[2]).compactMap { $0["share"] as? Double }
    #expect(shares == shares.sorted(by: >) && abs(shares.reduce(0, +) - 1) < 0.01)
    #expect(json[2]["dominantColor"] as? String == palettes[2]?.first?["color"] as? String)
    #expect(json[3]["averageColor"] is NSNull && json[3]["dominantColor"] is NSNull && json[3]["palette"] is NSNull)
    #expect(Set(json[0].keys) == Set(json[3].keys))
    #expect(json[0]["thumbHash"] == nil)
    let text = try await tool.run("info", "--colors", "a.png", "clear.png").output
    #expect(text.contains("average color #FF8000, palette #FF8000 100 %\n"))
    #expect(text.contains("no visible color\n"))
  }

  @Test
  func animationsHaveFramesAndADuration() async throws {
    try tool.photograph("boats-animated.gif", as: "a.gif")
    try tool.photograph("houses-animated.webp", as: "b.webp")

    let json = try await tool.run("info", "--json", "a.gif", "b.webp").json

    #expect(json.map { $0["frames"] as? Int } == [4, 4])
    #expect(json.map { $0["duration"] as? Double } == [2.7, 3])
  }

  @Test
  func theFormatIsToldFromTheBytesAndNotFromTheName() async throws {
    try tool.photograph("motocross-lossy.webp", as: "picture.jpg")
    #expect(try await tool.run("info", "picture.jpg", "--json").json.first?["format"] as? String == "webp")
  }

  @Test
  func aProfileIsNamed() async throws {
    try tool.photograph("caps-p3-profile.jpg", as: "caps.jpg")
    let name = try await tool.run("info", "caps.jpg", "--json").json.first?["colorProfile"] as? String
    #expect(name?.contains("P3") == true)
  }

  @Test
  func sixteenBitsAndAlphaAreSeen() async throws {
    try tool.photograph("fishing-boat-16-bit.png", as: "a.png")
    try tool.photograph("hibiscus-window-alpha.png", as: "b.png")
    let json = try await tool.run("info", "a.png", "b.png", "--json").json
    #expect(json.map { $0["bitsPerComponent"] as? Int } == [16, 8])
    #expect(json.map { $0["hasAlpha"] as? Bool } == [false, true])
  }

  @Test
  func errorsStandAmongTheLinesInOrderAndOnStandardError() async throws {
    try tool.photograph("statue-grey.jpg", as: "a.jpg")
    try tool.write(Data("<html>404</html>".utf8), to: "page.jpg")

    let outcome = try await tool.run("info", "a.jpg", "page.jpg", "missing.jpg", "a.jpg", "--json")

    #expect(outcome.status == 1)
    let json = try outcome.json
    #expect(json.map { $0["source"] as? String } == ["a.jpg", "page.jpg", "missing.jpg", "a.jpg"])
    #expect(json.map { $0["stage"] as? String } == [nil, "decode", "fetch", nil])
    #expect(json[1]["error"] as? String == "not an image: it looks like an HTML page")
    #expect(
      outcome.errors == """
        vitrine: page.jpg: not an image: it looks like an HTML page
        vitrine: missing.jpg: No such file or directory

        """
    )
  }

  @Test
  func aDashIsStandardInput() async throws {
    let png = try Bitmap.gradient(width: 20, height: 10).encoded(as: .png)
    let json = try await tool.run("info", "-", "--json", input: png).json
    #expect(json.first?["source"] as? String == "-")
    #expect(json.first?["width"] as? Int == 20)
  }

  @Test
  func aFolderIsAnErrorThatSaysSo() async throws {
    let outcome = try await tool.run("info", ".")
    #expect(outcome.status == 1)
    #expect(outcome.errors == "vitrine: .: it is a folder\n")
  }

  @Test
  func textForPeopleNamesTheSource() async throws {
    try tool.photograph("waterfall-cliff-orientation-6.jpg", as: "a.jpg")
    let outcome = try await tool.run("info", "a.jpg")
    #expect(outcome.output.hasPrefix("a.jpg: jpeg 900x600, stored 600x900 with orientation 6, 8 bits, "))
  }

  @Test
  func namesWithQuotesAndControlCharactersMakeValidJSON() async throws {
    let name = "a \"b\" \\ \u{1} é.png"
    try tool.write(try Bitmap.gradient(width: 2, height: 2).encoded(as: .png), to: name)
    #expect(try await tool.run("info", "--json", name).json.first?["source"] as? String == name)
  }
}
