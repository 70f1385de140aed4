import VitrineImaging
import VitrineRuntime

extension HostileImage {
  /// Hostile files of external formats, whose decoders are products of their own.
  ///
  /// Those of SVG may take minutes and all memory unless they are decoded in a sandbox.
  public static let external = [
    HostileImage("65535x65535.avif", avif(65_535, 65_535), .pixelCount),
    HostileImage("60000x60000.jxl", jxl(60_000), .pixelCount),
    HostileImage("60000x60000.tiff", TIFF.picture(60_000, 60_000), .pixelCount),
    HostileImage("circle-of-directories.tiff", TIFF.circle, nil),
    HostileImage("overlapping-directories.tiff", TIFF.overlapping(count: 2000), .frameCount),
    HostileImage("entities-that-multiply.svg", SVG.entities, nil),
    HostileImage("references-that-multiply.svg", SVG.references, nil),
    HostileImage("references-to-outside.svg", SVG.outside, nil),
    HostileImage("text-of-1-MB.svg", SVG.letters(1_000_000), nil),
    HostileImage("text-of-entities.svg", SVG.entityLetters, nil),
    HostileImage("500000-elements.svg", SVG.elements(500_000), nil),
    HostileImage("picture-of-20000x20000-within.svg", SVG.picture(20_000), nil),
  ]

  /// The boxes that a reader requires, without a picture.
  private static func avif(_ width: Int, _ height: Int) -> [UInt8] {
    func box(_ type: String, _ body: [UInt8]) -> [UInt8] { big(body.count + 8, 4) + text(type) + body }
    func full(_ type: String, _ body: [UInt8], version: UInt8 = 0) -> [UInt8] { box(type, [version, 0, 0, 0] + body) }
    let handler = full("hdlr", big(0, 4) + text("pict") + [UInt8](repeating: 0, count: 13))
    let properties =
      full("ispe", big(width, 4) + big(height, 4)) + full("pixi", [3, 8, 8, 8])
      + box("av1C", [0x81, 0x1F, 0x0C, 0])
    let associations = full("ipma", big(1, 4) + big(1, 2) + [3, 1, 2, 0x83])
    let items = full("iinf", big(1, 2) + full("infe", big(1, 2) + big(0, 2) + text("av01") + [0], version: 2))
    func meta(_ offset: Int) -> [UInt8] {
      let place = full(
        "iloc",
        [0x44, 0] + big(1, 2) + big(1, 2) + big(0, 2) + big(1, 2) + big(offset, 4) + big(64, 4),
      )
      return full(
        "meta",
        handler + full("pitm", big(1, 2)) + place + items
          + box("iprp", box("ipco", properties) + associations),
      )
    }
    let type = box("ftyp", text("avif") + big(0, 4) + text("avifmif1miaf"))
    // The offset has the same length whatever its value.
    let start = type.count + meta(0).count + 8
    return type + meta(start) + box("mdat", [UInt8](repeating: 0, count: 64))
  }

  /// A header that is ordinary except for the size.
  private static func jxl(_ side: Int) -> [UInt8] {
    var bits = BitWriter([0xFF, 0x0A])
    bits.write(0, 1)
    // The height, the flag that the width does not follow from it, and the width.
    bits.write(3, 2)
    bits.write(side - 1, 30)
    bits.write(0, 3)
    bits.write(3, 2)
    bits.write(side - 1, 30)
    bits.write(0b11, 2)
    return bits.bytes + [UInt8](repeating: 0, count: 100)
  }
}

extension HostileImage {
  private enum TIFF {
    static func picture(_ width: Int, _ height: Int) -> [UInt8] {
      let values = [
        (256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, 8), (279, 8),
      ]
      let entries = values.flatMap { tag, value in little(tag, 2) + little(4, 2) + little(1, 4) + little(value, 4) }
      return text("II") + little(42, 2) + little(8, 4) + little(values.count, 2) + entries + little(0, 4)
    }

    static let circle: [UInt8] = {
      let entry = little(256, 2) + little(4, 2) + little(1, 4) + little(1, 4)
      return text("II") + little(42, 2) + little(8, 4) + little(1, 2) + entry + little(8, 4)
    }()

    /// Directories four bytes apart, each of 65,535 entries, whose pointers to the next follow one another at the
    /// end.
    static func overlapping(count: Int) -> [UInt8] {
      let entries = [UInt8](repeating: 0xFF, count: 2 + 65_535 * 12)
      return text("II") + little(42, 2) + little(8, 4) + entries + (1...count).flatMap { little(8 + 4 * $0, 4) }
    }
  }

  private enum SVG {
    static let start = #"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" "#

    static let entities: [UInt8] = {
      var declarations = #"<!ENTITY a "aaaaaaaaaa">"#
      for (name, next) in zip("abcdefghi", "bcdefghij") {
        declarations += "<!ENTITY \(next) \"\(String(repeating: "&\(name);", count: 10))\">"
      }
      return Array("<!DOCTYPE svg [\(declarations)]>\(start)><text>&j;</text></svg>".utf8)
    }()

    static let references: [UInt8] = {
      var text = #"\#(start)width="60" height="40"><defs><rect id="u0" width="1" height="1"/>"#
      for level in 1...9 {
        let uses = String(repeating: "<use xlink:href=\"#u\(level - 1)\"/>", count: 10)
        text += "<g id=\"u\(level)\">\(uses)</g>"
      }
      return Array("\(text)</defs><use xlink:href=\"#u9\"/></svg>".utf8)
    }()

    static func letters(_ count: Int) -> [UInt8] {
      Array(
        "\(start)width=\"60\" height=\"40\"><text y=\"20\">\(String(repeating: "a", count: count))</text></svg>".utf8
      )
    }

    /// A text of 100,000 letters in 2,000 bytes.
    static let entityLetters: [UInt8] = {
      let entity = "<!ENTITY a \"\(String(repeating: "a", count: 1000))\">"
      let text = String(repeating: "&a;", count: 100)
      return Array("<!DOCTYPE svg [\(entity)]>\(start)width=\"60\" height=\"40\"><text>\(text)</text></svg>".utf8)
    }()

    static func elements(_ count: Int) -> [UInt8] {
      Array("\(start)width=\"60\" height=\"40\">\(String(repeating: "<g/>", count: count))</svg>".utf8)
    }

    static func picture(_ side: Int) -> [UInt8] {
      let file = PNG.file(side, side, [("IDAT", PNG.zeros(count: 1000))])
      let link = "data:image/png;base64,\(Data(file).base64EncodedString())"
      return Array(
        "\(start)width=\"60\" height=\"40\"><image width=\"9\" height=\"9\" xlink:href=\"\(link)\"/></svg>".utf8
      )
    }

    static let outside = Array(
      (#"\#(start)width="60" height="40"><image width="9" height="9" xlink:href="http://127.0.0.1:9/x.png"/>"#
        + #"<image width="9" height="9" xlink:href="file:///dev/zero"/><use xlink:href="file:///dev/zero#x"/></svg>"#)
        .utf8
    )
  }
}
