package import VitrineImaging
import VitrineRuntime

/// The facts about a photograph that the information panel shows.
package struct PhotoFacts: Sendable, Equatable {
  /// The kind of a fact, in the order in which they are shown.
  package enum Kind: String, Sendable, CaseIterable {
    case format, pixels, size, taken, camera, lens, exposure, flash, colors, software, artist, copyright
  }

  /// A fact, in words that need no translation.
  package struct Fact: Sendable, Equatable {
    package let kind: Kind
    package let text: String
  }

  /// The facts that are known.
  package private(set) var facts: [Fact] = []
  /// All fields of the file's metadata but the place, with the names of the specifications.
  package private(set) var fields: [ImageMetadata.Text] = []
  /// The place, in degrees north and east; it is shown only on request.
  package private(set) var place: (latitude: Double, longitude: Double)?

  package static func == (one: Self, other: Self) -> Bool {
    one.facts == other.facts && one.fields == other.fields && one.place?.latitude == other.place?.latitude
      && one.place?.longitude == other.place?.longitude
  }

  /// - Parameters:
  ///   - info: The header of the image.
  ///   - metadata: Its metadata; `nil` if there is none.
  ///   - byteCount: The number of its bytes; `nil` if unknown.
  ///   - decimalPoint: The sign between the whole and the rest of a number.
  package init(_ info: ImageInfo, _ metadata: ImageMetadata?, byteCount: Int?, decimalPoint: String = ".") {
    self.fields = metadata?.texts ?? []
    let fields = metadata?.fields ?? EXIFFields()
    func decimal(_ number: Double, digits: Int = 1) -> String {
      Self.decimal(number, digits: digits, decimalPoint)
    }
    func add(_ kind: Kind, _ text: String?) {
      if let text, !text.isEmpty { facts.append(Fact(kind: kind, text: text)) }
    }
    add(
      .format,
      info.frameCount > 1 ? "\(info.format), \(info.frameCount) × \(decimal(info.duration)) s" : "\(info.format)",
    )
    let megapixels = Double(info.width) * Double(info.height) / 1e6
    let size = "\(info.width) × \(info.height)" + (megapixels >= 0.1 ? " (\(decimal(megapixels)) MP)" : "")
    add(.pixels, Self.isolated(size))
    add(.size, byteCount.map { Self.bytes($0, decimalPoint) })
    add(.taken, fields.original.map { Self.isolated(Self.date($0)) })
    add(.camera, Self.camera(fields))
    add(.lens, fields.lensModel)
    var exposure: [String] = []
    if let time = fields.exposureTime, time > 0 {
      exposure.append(time < 0.3 ? "1/\(Int((1 / time).rounded())) s" : "\(decimal(time)) s")
    }
    if let number = fields.fNumber, number > 0 { exposure.append("f/\(decimal(number))") }
    if let iso = fields.iso { exposure.append("ISO \(iso)") }
    if let length = fields.focalLength, length > 0 { exposure.append("\(decimal(length)) mm") }
    add(.exposure, exposure.joined(separator: ", "))
    if fields.flashFired == true { add(.flash, "✓") }
    add(.colors, (metadata?.colorProfile ?? info.colorProfile)?.name)
    add(.software, fields.software)
    add(.artist, fields.artist)
    add(.copyright, fields.copyright)
    if let latitude = fields.latitude, let longitude = fields.longitude { place = (latitude, longitude) }
  }

  /// Returns a text that keeps its order in a language from right to left: width before height, date before time (UAX #9).
  private static func isolated(_ text: String) -> String { "\u{2066}\(text)\u{2069}" }

  /// Returns a number with a fixed number of digits, without zeros at the end.
  static func decimal(_ number: Double, digits: Int, _ point: String) -> String {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    guard number.isFinite, abs(number) < 1e12 else { return "\(number)" }
    let whole = Int((abs(number) * scale).rounded())
    guard digits > 0 else { return "\(Int(number.rounded()))" }
    let sign = number < 0 && whole > 0 ? "-" : ""
    var rest = String(whole % Int(scale))
    rest = String(repeating: "0", count: digits - rest.count) + rest
    while rest.hasSuffix("0") { rest.removeLast() }
    return sign + "\(whole / Int(scale))" + (rest.isEmpty ? "" : point + rest)
  }

  /// Returns a number of bytes in a unit that people read.
  package static func bytes(_ count: Int, _ point: String = ".") -> String {
    let units = ["B", "kB", "MB", "GB", "TB"]
    var (value, unit) = (Double(count), 0)
    while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
    return decimal(value, digits: value < 10 && unit > 0 ? 1 : 0, point) + " " + units[unit]
  }

  private static func date(_ date: EXIFDate) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(date.year)-\(two(date.month))-\(two(date.day)) \(two(date.hour)):\(two(date.minute))"
  }

  /// Returns maker and model; many models begin with their maker.
  private static func camera(_ fields: EXIFFields) -> String? {
    guard let model = fields.model else { return fields.make }
    guard let make = fields.make, let first = make.split(separator: " ").first,
      !model.lowercased().hasPrefix(first.lowercased())
    else { return model }
    return "\(make) \(model)"
  }
}
