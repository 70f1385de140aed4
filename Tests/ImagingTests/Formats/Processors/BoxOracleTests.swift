import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Sizes of results beside a second calculation, written after imgproxy's documentation in its own terms: factors by
/// which the image shrinks, and whole pixels after each step.
struct BoxOracleTests {
  private struct Case {
    var type = "fit"
    var width = 0.0
    var height = 0.0
    var zoom = (x: 1.0, y: 1.0)
    var ratio = 1.0
    var least = (x: 0.0, y: 0.0)
    var enlarges = false
    var extends = false
    var keepsShape = false
    var padding: [Double] = []
    var crop = (x: 0.0, y: 0.0)
    var turns = false

    var text: String {
      var parts = ["rt:\(type)", "w:\(Int(width))", "h:\(Int(height))"]
      if zoom != (1, 1) { parts.append("z:\(zoom.x):\(zoom.y)") }
      if ratio != 1 { parts.append("dpr:\(ratio)") }
      if least.x > 0 { parts.append("mw:\(Int(least.x))") }
      if least.y > 0 { parts.append("mh:\(Int(least.y))") }
      if enlarges { parts.append("el:1") }
      if extends { parts.append("ex:1") }
      if keepsShape { parts.append("exar:1") }
      if !padding.isEmpty { parts.append("pd:" + padding.map { "\(Int($0))" }.joined(separator: ":")) }
      if crop != (0, 0) { parts.append("c:\(DecimalText.of(crop.x)):\(DecimalText.of(crop.y))") }
      if turns { parts.append("rot:90") }
      return parts.joined(separator: "|")
    }

    /// The size of the result for an image.
    func size(of image: (width: Int, height: Int)) -> [Double] {
      var (w, h) = (Double(turns ? image.height : image.width), Double(turns ? image.width : image.height))
      func part(_ wanted: Double, _ side: Double) -> Double {
        wanted == 0 ? side : min(side, wanted < 1 ? max(1, (wanted * side).rounded()) : Double(Int(wanted)))
      }
      (w, h) = (part(crop.x, w), part(crop.y, h))
      var shrink = (x: width > 0 ? w / width : 1, y: height > 0 ? h / height : 1)
      if shrink != (1, 1), type != "force" {
        let isAlike = (w >= h) == ((width > 0 ? width : w) >= (height > 0 ? height : h))
        let covers = type == "fill" || type == "fill-down" || type == "auto" && isAlike
        let one =
          width == 0
          ? shrink.y : height == 0 ? shrink.x : covers ? min(shrink.x, shrink.y) : max(shrink.x, shrink.y)
        shrink = (one, one)
      }
      shrink = (shrink.x / zoom.x, shrink.y / zoom.y)
      var ratio = ratio
      if !enlarges {
        let smallest = min(shrink.x, shrink.y)
        if smallest < 1 {
          shrink = (shrink.x / smallest, shrink.y / smallest)
          if !extends { ratio /= smallest }
        }
        ratio = min(ratio, shrink.x, shrink.y)
      }
      if least.x > 0, w / least.x < shrink.x { shrink = (w / least.x, shrink.y / (shrink.x / (w / least.x))) }
      if least.y > 0, h / least.y < shrink.y { shrink = (shrink.x / (shrink.y / (h / least.y)), h / least.y) }
      shrink = (min(shrink.x / ratio, w), min(shrink.y / ratio, h))
      let scaled = (x: (w / shrink.x).rounded(), y: (h / shrink.y).rounded())
      let box = (x: (width * zoom.x * ratio).rounded(), y: (height * zoom.y * ratio).rounded())
      var kept = box
      if type == "fill-down", !enlarges {
        let missing = (x: box.x / scaled.x, y: box.y / scaled.y)
        if missing.x > missing.y, missing.x > 1 { kept = (scaled.x, (scaled.x * box.y / box.x).rounded()) }
        if missing.y > missing.x, missing.y > 1 { kept = ((scaled.y * box.x / box.y).rounded(), scaled.y) }
      }
      var out = (x: kept.x > 0 ? min(kept.x, scaled.x) : scaled.x, y: kept.y > 0 ? min(kept.y, scaled.y) : scaled.y)
      if extends, box.x > out.x || box.y > out.y { out = (box.x > 0 ? box.x : out.x, box.y > 0 ? box.y : out.y) }
      if keepsShape, box.x > 0, box.y > 0 {
        let missing = (x: box.x / out.x, y: box.y / out.y)
        if missing.y > missing.x { out.y = max(out.y, (out.x * box.y / box.x).rounded()) }
        if missing.x > missing.y { out.x = max(out.x, (out.y * box.x / box.y).rounded()) }
      }
      let edges = (0..<4).map { index in
        padding.isEmpty ? 0 : (padding[index % padding.count] * ratio).rounded(.toNearestOrEven)
      }
      return [out.x + edges[1] + edges[3], out.y + edges[0] + edges[2]]
    }
  }

  private static func result(_ text: String, _ file: Data) throws -> Bitmap {
    let plan = try ImageOperations(text).plan()
    var image = try DecoderRegistry.standard.decode(file, DecodeOptions(size: plan.size))
    for processor in plan.processors { image = try processor.process(image) }
    return image.bitmap
  }

  private static func random(_ numbers: inout SplitMix64) -> Case {
    func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &numbers) < share }
    func side() -> Double { chance(0.2) ? 0 : Double(Int.random(in: 1...130, using: &numbers)) }
    func factor(_ range: ClosedRange<Int>) -> Double { Double(Int.random(in: range, using: &numbers)) / 20 }
    var made = Case()
    made.type = ["fit", "fill", "fill-down", "force", "auto"].randomElement(using: &numbers) ?? "fit"
    (made.width, made.height) = (side(), side())
    if chance(0.2) { made.zoom = (factor(5...50), factor(5...50)) }
    if chance(0.5) { made.ratio = factor(4...60) }
    if chance(0.15) { made.least.x = side() }
    if chance(0.15) { made.least.y = side() }
    (made.enlarges, made.extends, made.keepsShape) = (chance(0.3), chance(0.25), chance(0.2))
    if chance(0.3) { made.padding = (0..<[1, 2, 4][Int.random(in: 0..<3, using: &numbers)]).map { _ in side() / 4 } }
    made.padding = made.padding.map { $0.rounded() }
    if chance(0.2) { made.crop = (chance(0.5) ? factor(1...19) : side(), chance(0.5) ? factor(1...19) : side()) }
    made.turns = chance(0.15)
    return made
  }

  /// 5,000 combinations of options agree to a pixel.
  @Test
  func sizesAgreeWithASecondCalculation() throws {
    var numbers = SplitMix64(seed: 50)
    let images = try [(40, 20), (23, 37), (32, 32), (90, 7)].map { width, height in
      let bitmap = Bitmap.testPattern(width: width, height: height)
      return (size: (width: width, height: height), file: try bitmap.encoded(as: .png))
    }
    var count = 0
    while count < 5000 {
      let (made, image) = (Self.random(&numbers), images[count % images.count])
      let expected = made.size(of: image.size)
      guard expected.allSatisfy({ $0 <= 400 }) else { continue }
      count += 1
      let bitmap = try Self.result(made.text, image.file)
      let difference = zip([bitmap.width, bitmap.height], expected).map { abs(Double($0) - $1) }
      #expect(
        difference.allSatisfy { $0 <= 1 },
        "\(made.text) of \(image.size): \(bitmap.width)x\(bitmap.height), not \(expected)",
      )
    }
  }

  @Test
  func noSideIsLongerThanTheLimit() throws {
    var numbers = SplitMix64(seed: 51)
    let file = try Bitmap.testPattern(width: 61, height: 40).encoded(as: .png)
    for _ in 0..<500 {
      let made = Self.random(&numbers)
      let limit = Int.random(in: 20...150, using: &numbers)
      let bitmap = try Self.result("\(made.text)|mrd:\(limit)", file)
      #expect(max(bitmap.width, bitmap.height) <= limit, "\(made.text)|mrd:\(limit)")
    }
  }

  /// What imgproxy makes of a picture of 200 by 100 pixels.
  @Test(arguments: [
    ("dpr:0.5", 100, 50), ("rs:fill:60:100|dpr:2", 60, 100), ("w:300|h:300|ex:1|dpr:2", 300, 300),
    ("w:150|dpr:2|pd:10", 226, 126), ("rt:force|w:60|h:0", 60, 100), ("rt:force|w:100|h:300", 33, 100),
    ("w:50|h:50|z:0.5:1.5", 25, 38), ("zoom:0.5", 100, 50), ("rs:fill:300:50", 200, 50),
    ("rs:fill-down:300:125", 200, 83), ("w:300|h:125|exar:1", 240, 100), ("mrd:100", 100, 50),
    ("h:80|mrd:100", 100, 50),
    ("mrd:110|pd:10", 110, 60), ("w:300|h:300|ex:1|mrd:150", 150, 150), ("w:300|h:125|exar:1|mrd:120", 119, 50),
    ("rs:fill:60:100|dpr:2|mrd:50", 30, 50), ("w:400|el:1|mrd:300|rot:90", 150, 300), ("mrd:300", 200, 100),
  ])
  func knownSizesAreMade(text: String, width: Int, height: Int) throws {
    let file = try Bitmap.testPattern(width: 200, height: 100).encoded(as: .png)

    #expect(try Self.result(text, file).size == [width, height])
  }
}
