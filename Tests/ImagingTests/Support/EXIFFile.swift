import VitrineImaging
import VitrineRuntime

/// A TIFF block made by hand: a first directory, those of exposure and place, and that of the thumbnail.
struct EXIFFile {
  typealias Entry = (tag: Int, type: Int, count: Int, value: [UInt8])

  var isLittleEndian = true
  var main: [Entry] = []
  var exif: [Entry] = []
  var gps: [Entry] = []
  var thumbnail: [UInt8] = []
  /// Replaces the place of the thumbnail.
  var thumbnailPlace: Int?

  func two(_ value: Int) -> [UInt8] { isLittleEndian ? .little16(value) : .big16(value) }
  func four(_ value: Int) -> [UInt8] { isLittleEndian ? .little32(value) : .big32(value) }

  func short(_ tag: Int, _ value: Int) -> Entry { (tag, 3, 1, two(value)) }
  func long(_ tag: Int, _ value: Int) -> Entry { (tag, 4, 1, four(value)) }
  func text(_ tag: Int, _ text: String) -> Entry { (tag, 2, text.utf8.count + 1, .text(text) + [0]) }
  func rational(_ tag: Int, _ parts: (Int, Int)...) -> Entry {
    (tag, 5, parts.count, parts.flatMap { four($0.0) + four($0.1) })
  }

  private func length(_ entries: [Entry]) -> Int {
    entries.reduce(2 + entries.count * 12 + 4) { $0 + ($1.value.count > 4 ? $1.value.count : 0) }
  }

  private func directory(_ entries: [Entry], at offset: Int, next: Int = 0) -> [UInt8] {
    var (table, values): ([UInt8], [UInt8]) = (two(entries.count), [])
    for entry in entries {
      table += two(entry.tag) + two(entry.type) + four(entry.count)
      if entry.value.count > 4 {
        table += four(offset + 2 + entries.count * 12 + 4 + values.count)
        values += entry.value
      } else {
        table += entry.value + [UInt8](repeating: 0, count: 4 - entry.value.count)
      }
    }
    return table + four(next) + values
  }

  var data: Data {
    var main = main
    let pointers = (exif.isEmpty ? 0 : 1) + (gps.isEmpty ? 0 : 1)
    var end = 8 + length(main) + pointers * 12
    let (exifPlace, exifEnd) = (end, end + (exif.isEmpty ? 0 : length(exif)))
    if !exif.isEmpty { main.append(long(0x8769, exifPlace)) }
    end = exifEnd + (gps.isEmpty ? 0 : length(gps))
    if !gps.isEmpty { main.append(long(0x8825, exifEnd)) }
    let last = [long(0x0201, 0), long(0x0202, 0)]
    let place = thumbnailPlace ?? end + length(last)
    var bytes: [UInt8] = .text(isLittleEndian ? "II" : "MM") + two(42) + four(8)
    bytes += directory(main, at: 8, next: thumbnail.isEmpty ? 0 : end)
    if !exif.isEmpty { bytes += directory(exif, at: exifPlace) }
    if !gps.isEmpty { bytes += directory(gps, at: exifEnd) }
    if !thumbnail.isEmpty {
      bytes += directory([long(0x0201, place), long(0x0202, thumbnail.count)], at: end) + thumbnail
    }
    return Data(bytes)
  }
}

extension EXIFFile {
  /// A block with the name of a camera.
  static var named: Data {
    var file = EXIFFile()
    file.main = [file.text(0x010F, "Vitrine Optics")]
    return file.data
  }
}

extension ImageMetadata {
  static func made(exif: Data? = nil, xmp: String? = nil) -> ImageMetadata {
    var metadata = ImageMetadata()
    (metadata.exif, metadata.xmp) = (exif, xmp.map { Data($0.utf8) })
    return metadata
  }
}
