import Foundation
import VitrineImaging

/// Small files of every format that ask for much: each family is made in several sizes.
enum Families {
  static var all: [(name: String, data: Data)] {
    drawings + pngs + gifs + webps + bitmaps + icons + tiffs + jpegs + boxes
  }

  // MARK: SVG

  private static func svg(_ body: String, _ attributes: String = #"width="2000" height="2000""#) -> Data {
    Data(
      ##"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \##(attributes)>\##(body)</svg>"##
        .utf8
    )
  }

  private static func filtered(_ filter: String) -> Data {
    svg(
      ##"<filter id="f" x="0" y="0" width="1" height="1">\##(filter)</filter><rect width="2000" height="2000" filter="url(#f)"/>"##
    )
  }

  private static var drawings: [(String, Data)] {
    var files: [(String, Data)] = []
    for octaves in [1000, 1_000_000, 2_000_000_000] {
      files.append(("noise-\(octaves).svg", filtered(#"<feTurbulence baseFrequency=".5" numOctaves="\#(octaves)"/>"#)))
    }
    for radius in [100, 10_000, 1_000_000] {
      files.append(("blur-\(radius).svg", filtered(#"<feGaussianBlur stdDeviation="\#(radius)"/>"#)))
      files.append(("dilate-\(radius).svg", filtered(#"<feMorphology operator="dilate" radius="\#(radius)"/>"#)))
    }
    for order in [20, 21, 101] {
      let matrix = String(repeating: "1 ", count: order * order)
      files.append(
        ("convolve-\(order).svg", filtered(#"<feConvolveMatrix order="\#(order)" kernelMatrix="\#(matrix)"/>"#))
      )
    }
    for count in [10, 100, 1000] {
      files.append(
        ("filters-\(count).svg", filtered(String(repeating: #"<feGaussianBlur stdDeviation="9"/>"#, count: count)))
      )
    }
    for depth in [10, 20, 30] {
      let levels = (1...depth).map { level in
        ##"<g id="a\##(level)"><use xlink:href="#a\##(level - 1)"/><use xlink:href="#a\##(level - 1)" x="1"/></g>"##
      }
      files.append(
        (
          "doubled-\(depth).svg",
          svg(
            ##"<defs><rect id="a0" width="9" height="9"/>"## + levels.joined()
              + ##"</defs><use xlink:href="#a\##(depth)"/>"##
          ),
        )
      )
    }
    for depth in [1000, 100_000] {
      let groups = String(repeating: "<g opacity='.9'>", count: depth) + String(repeating: "</g>", count: depth)
      files.append(("nested-\(depth).svg", svg(groups)))
      files.append(
        (
          "rects-\(depth).svg",
          svg(String(repeating: "<rect width='2000' height='2000' opacity='.5'/>", count: depth)),
        )
      )
      files.append(
        (
          "stops-\(depth).svg",
          svg(
            "<linearGradient id='g'>" + String(repeating: "<stop offset='.5' stop-color='red'/>", count: depth)
              + "</linearGradient><rect width='2000' height='2000' fill='url(#g)'/>"
          ),
        )
      )
    }
    for dash in ["1", ".001"] {
      files.append(
        ("dashes-\(dash).svg", svg(#"<path d="M0 0H1000000000" stroke="red" stroke-dasharray="\#(dash)"/>"#))
      )
    }
    for tile in ["1", ".01"] {
      files.append(
        (
          "tiles-\(tile).svg",
          svg(
            ##"<pattern id="p" width="\##(tile)" height="\##(tile)" patternUnits="userSpaceOnUse"><rect width="1" height="1"/></pattern><rect width="2000" height="2000" fill="url(#p)"/>"##
          ),
        )
      )
    }
    for count in [100_000, 1_000_000] {
      files.append(("text-\(count).svg", svg("<text y='20'>" + String(repeating: "m", count: count) + "</text>")))
      files.append(
        ("path-\(count).svg", svg("<path d='M0 0" + String(repeating: "l9 1", count: count / 4) + "' stroke='red'/>"))
      )
      files.append(
        ("style-\(count).svg", svg("<style>" + String(repeating: "a{b:c}", count: count / 6) + "</style>"))
      )
    }
    files.append(("wide.svg", svg("", #"width="1000000000" height="1000000000""#)))
    files.append(("thin.svg", svg("", #"width="1000000000" height="1" viewBox="0 0 1 1000000000""#)))
    files.append(("itself.svg", svg(##"<g id="a"><use xlink:href="#a"/></g>"##)))
    let laughs = (1...9).map { "<!ENTITY a\($0) \"" + String(repeating: "&a\($0 - 1);", count: 10) + "\">" }
    files.append(
      (
        "entities.svg",
        Data(
          "<!DOCTYPE svg [<!ENTITY a0 \"ha\">\(laughs.joined())]><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"><text>&a9;</text></svg>"
            .utf8
        ),
      )
    )
    return files
  }

  // MARK: Pictures made of rows

  private static func big(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private static func little(_ number: Int, _ count: Int) -> [UInt8] { big(number, count).reversed() }

  private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
    let content = Array(type.utf8) + body
    var checksum = ~UInt32(0)
    for byte in content {
      checksum ^= UInt32(byte)
      for _ in 0..<8 { checksum = checksum >> 1 ^ (checksum & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    return big(body.count, 4) + content + big(Int(~checksum), 4)
  }

  /// A zlib stream of one stored block of a few zeros: the rest of the picture is missing.
  private static let zeros: [UInt8] =
    [0x78, 0x01, 0x01, 16, 0, 0xEF, 0xFF] + [UInt8](repeating: 0, count: 16) + [0, 16, 0, 1]

  private static func png(
    _ width: Int,
    _ height: Int,
    depth: UInt8,
    color: UInt8,
    interlaced: Bool,
    _ frames: [[UInt8]] = [],
  ) -> Data {
    let header = big(width, 4) + big(height, 4) + [depth, color, 0, 0, interlaced ? 1 : 0]
    let body =
      frames.isEmpty
      ? chunk("IDAT", zeros)
      : chunk("acTL", big(frames.count + 1, 4) + big(0, 4)) + chunk("IDAT", zeros) + frames.flatMap { $0 }
    return Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header) + body + chunk("IEND", []))
  }

  private static var pngs: [(String, Data)] {
    var files: [(String, Data)] = []
    for side in [5000, 9000, 12_000] {
      files.append(("interlaced-16-bit-\(side).png", png(side, side, depth: 16, color: 6, interlaced: true)))
      files.append(("palette-\(side).png", png(side, side, depth: 8, color: 0, interlaced: true)))
      let control = big(0, 4) + big(side, 4) + big(side, 4) + big(0, 8) + [0, 1, 0, 1, 0, 0]
      let frame = chunk("fcTL", control) + chunk("fdAT", big(1, 4) + zeros)
      files.append(
        ("late-frames-\(side).png", png(side, side, depth: 8, color: 6, interlaced: false, [frame, frame, frame]))
      )
    }
    return files
  }

  private static var gifs: [(String, Data)] {
    [(10_000, 1), (20_000, 1), (65_535, 1), (10_000, 10_000), (20_000, 20_000)].map { canvas, frame in
      let screen =
        Array("GIF89a".utf8) + little(canvas, 2) + little(canvas, 2) + [0x80, 0, 0, 0, 0, 0, 255, 255, 255]
      let image: [UInt8] = [0x2C, 0, 0, 0, 0] + little(frame, 2) + little(frame, 2) + [0, 2, 2, 0x4C, 1, 0]
      return ("canvas-\(canvas)-frame-\(frame).gif", Data(screen + image + image + image + [0x3B]))
    }
  }

  private static func riff(_ chunks: [UInt8]) -> Data {
    Data(Array("RIFF".utf8) + little(chunks.count + 4, 4) + Array("WEBP".utf8) + chunks)
  }

  private static func webpChunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + little(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
  }

  private static var webps: [(String, Data)] {
    // A lossless picture of one pixel.
    let pixel = webpChunk("VP8L", [0x2F, 0, 0, 0, 0, 0x07, 0x10, 0x11, 0x11, 0x88, 0x88, 0x08])
    return [4000, 10_000, 16_383].flatMap { side -> [(String, Data)] in
      let canvas = little(side - 1, 3) + little(side - 1, 3)
      let still = riff(webpChunk("VP8X", [0, 0, 0, 0] + canvas) + pixel)
      let frame = webpChunk("ANMF", little(0, 6) + little(0, 6) + little(100, 3) + [0] + pixel)
      let moving = riff(
        webpChunk("VP8X", [2, 0, 0, 0] + canvas) + webpChunk("ANIM", [0, 0, 0, 0, 0, 0]) + frame + frame
      )
      return [("canvas-\(side).webp", still), ("moving-canvas-\(side).webp", moving)]
    }
  }

  private static func bmp(_ width: Int, _ height: Int, bits: Int, compression: Int, _ body: [UInt8]) -> Data {
    let palette = [UInt8](repeating: 0, count: bits <= 8 ? 4 << bits : 0)
    let offset = 54 + palette.count
    let header = little(40, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(bits, 2)
    let sizes = little(compression, 4) + little(body.count, 4) + little(0, 16)
    return Data(
      Array("BM".utf8) + little(offset + body.count, 4) + little(0, 4) + little(offset, 4) + header + sizes + palette
        + body
    )
  }

  private static var bitmaps: [(String, Data)] {
    [5000, 9000, 30_000].flatMap { side -> [(String, Data)] in
      [
        ("runs-8-\(side).bmp", bmp(side, side, bits: 8, compression: 1, [UInt8](repeating: 255, count: 1000))),
        ("runs-4-\(side).bmp", bmp(side, side, bits: 4, compression: 2, [UInt8](repeating: 255, count: 1000))),
        ("short-32-\(side).bmp", bmp(side, side, bits: 32, compression: 0, [UInt8](repeating: 255, count: 1000))),
      ]
    }
  }

  private static var icons: [(String, Data)] {
    let inner = [
      png(9000, 9000, depth: 16, color: 6, interlaced: true),
      png(30_000, 30_000, depth: 8, color: 6, interlaced: false),
    ]
    return inner.enumerated().flatMap { index, data -> [(String, Data)] in
      [1, 1000].map { count in
        let start = 6 + 16 * count
        let entry: [UInt8] = [0, 0, 0, 0, 1, 0, 32, 0] + little(data.count, 4) + little(start, 4)
        let entries = (0..<count).flatMap { _ in entry }
        return ("\(count)-large-pictures-\(index).ico", Data([0, 0, 1, 0] + little(count, 2) + entries + data))
      }
    }
  }

  // MARK: TIFF

  private static func tiff(_ entries: [(Int, Int, Int, Int)], next: Int = 0) -> Data {
    let directory = entries.flatMap { little($0.0, 2) + little($0.1, 2) + little($0.2, 4) + little($0.3, 4) }
    return Data(
      [0x49, 0x49, 42, 0, 8, 0, 0, 0] + little(entries.count, 2) + directory + little(next, 4)
        + [UInt8](repeating: 0, count: 64)
    )
  }

  private static func picture(
    _ width: Int,
    _ height: Int,
    bits: Int = 8,
    samples: Int = 1,
    compression: Int = 1,
    rows: Int? = nil,
  ) -> [(Int, Int, Int, Int)] {
    [
      (256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, bits), (259, 3, 1, compression), (262, 3, 1, 1),
      (273, 4, 1, 150),
      (277, 3, 1, samples), (278, 4, 1, rows ?? height), (279, 4, 1, 50), (284, 3, 1, 1),
    ]
  }

  private static var tiffs: [(String, Data)] {
    var files: [(String, Data)] = []
    for (name, compression) in [("plain", 1), ("lzw", 5), ("deflate", 8), ("packbits", 32_773), ("fax", 4)] {
      files.append(("\(name)-9000.tiff", tiff(picture(9000, 9000, compression: compression))))
      files.append(("\(name)-60000.tiff", tiff(picture(60_000, 60_000, compression: compression, rows: 1))))
    }
    files.append(("samples.tiff", tiff(picture(5000, 5000, samples: 60_000))))
    files.append(("double.tiff", tiff(picture(9000, 9000, bits: 64))))
    files.append(("circle.tiff", tiff(picture(10, 10), next: 8)))
    let tiles = picture(60_000, 60_000).filter { ![273, 278, 279].contains($0.0) }
    let tiled = (tiles + [(322, 4, 1, 60_000), (323, 4, 1, 60_000), (324, 4, 1, 150), (325, 4, 1, 50)]).sorted {
      $0.0 < $1.0
    }
    files.append(("one-tile.tiff", tiff(tiled)))
    return files
  }

  // MARK: JPEG

  private static var jpegs: [(String, Data)] {
    [(8000, 100), (20_000, 10), (65_500, 100), (65_500, 1000)].map { side, scans in
      var bytes: [UInt8] = [0xFF, 0xD8]
      func segment(_ marker: UInt8, _ body: [UInt8]) { bytes += [0xFF, marker] + big(body.count + 2, 2) + body }
      segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
      segment(0xC2, [8] + big(side, 2) + big(side, 2) + [3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0])
      segment(0xC4, [0, 1] + [UInt8](repeating: 0, count: 15) + [0])
      segment(0xC4, [16, 1] + [UInt8](repeating: 0, count: 15) + [0])
      for _ in 0..<scans { segment(0xDA, [3, 1, 0, 2, 0, 3, 0, 0, 0, 0]) }
      return ("\(scans)-scans-of-\(side).jpg", Data(bytes + [0xFF, 0xD9]))
    }
  }

  // MARK: Formats in boxes

  private static func box(_ name: String, _ body: [UInt8]) -> [UInt8] {
    big(body.count + 8, 4) + Array(name.utf8) + body
  }

  /// A file of the HEIF family whose header says a size and whose picture is a few bytes.
  private static func heif(_ brand: String, _ codec: String, _ side: Int, tiles: Int) -> Data {
    let kinds = tiles > 0 ? ["grid"] + [String](repeating: codec, count: tiles) : [codec]
    let infos = kinds.enumerated().flatMap {
      box("infe", [2, 0, 0, 0] + big($0 + 1, 2) + [0, 0] + Array($1.utf8) + [0])
    }
    let size = box("ispe", big(0, 4) + big(side, 4) + big(side, 4))
    let setup = codec == "av01" ? box("av1C", [0x81, 0x20, 0, 0]) : box("hvcC", [UInt8](repeating: 1, count: 23))
    let links = kinds.indices.flatMap { (index: Int) -> [UInt8] in big(index + 1, 2) + [2, 1, 0x82] }
    let properties = box("iprp", box("ipco", size + setup) + box("ipma", big(0, 4) + big(kinds.count, 4) + links))
    let references =
      tiles > 0
      ? box("iref", big(0, 4) + box("dimg", big(1, 2) + big(tiles, 2) + (0..<tiles).flatMap { big($0 + 2, 2) })) : []
    let places = box(
      "iloc",
      [0, 0, 0, 0, 0x44, 0] + big(kinds.count, 2)
        + kinds.indices.flatMap { big($0 + 1, 2) + [0, 0] + big(1, 2) + big(40, 4) + big(16, 4) },
    )
    let handler = box("hdlr", big(0, 8) + Array("pict".utf8) + big(0, 13))
    let meta = box(
      "meta",
      big(0, 4) + handler + box("pitm", big(0, 4) + big(1, 2)) + box("iinf", big(0, 4) + big(kinds.count, 2) + infos)
        + properties + references + places,
    )
    return Data(
      box("ftyp", Array(brand.utf8) + big(0, 4) + Array("mif1".utf8) + Array(brand.utf8)) + meta
        + box("mdat", [0, 0, 255, 255] + big(side, 4) + big(side, 4) + big(0, 16))
    )
  }

  private static var boxes: [(String, Data)] {
    var files: [(String, Data)] = []
    for (brand, codec, end) in [("avif", "av01", "avif"), ("heic", "hvc1", "heic")] {
      for side in [9000, 16_384, 65_535] {
        files.append(("header-\(side).\(end)", heif(brand, codec, side, tiles: 0)))
      }
      for tiles in [100, 1000] { files.append(("\(tiles)-tiles.\(end)", heif(brand, codec, 20_000, tiles: tiles))) }
    }
    // Codestreams that begin with a size: 30 bits each for height and width.
    for tail in [0x55, 0xAA, 0xFF] {
      files.append(("codestream-\(tail).jxl", Data([0xFF, 0x0A] + [UInt8](repeating: UInt8(tail), count: 200))))
    }
    return files
  }
}
