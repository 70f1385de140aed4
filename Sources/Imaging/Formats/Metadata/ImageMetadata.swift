public import VitrineRuntime

/// The metadata of a file: the place and the camera of a picture, its author, the meaning of its colours.
public struct ImageMetadata: Sendable, Hashable {
  /// EXIF as a TIFF block, which begins with `II` or `MM`.
  public var exif: Data? {
    didSet { fields = exif.map { EXIFFields($0) } ?? EXIFFields() }
  }
  /// The XMP packet: XML in UTF-8.
  public var xmp: Data?
  /// The part of XMP that did not fit into one segment of a JPEG file: a second packet.
  public var extendedXMP: Data?
  /// The fields of IPTC as they are stored; they are listed, and not written.
  package var iptc: Data?
  /// The ICC profile.
  public var colorProfile: ColorProfile?
  /// The common fields of ``exif``; all `nil` without it.
  public private(set) var fields = EXIFFields()

  /// Makes empty metadata.
  public init() {}

  /// Makes metadata of fields without the block that they come from.
  package init(fields: EXIFFields) {
    self.fields = fields
  }
}

/// The common fields of EXIF (CIPA DC-008).
///
/// A field is `nil` if the file does not have it, or has an invalid value.
public struct EXIFFields: Sendable, Hashable {
  /// The transform from the stored pixels to the upright image.
  public var orientation: Orientation?
  /// The maker of the camera.
  public var make: String?
  /// The model of the camera.
  public var model: String?
  /// The model of the lens.
  public var lensModel: String?
  /// The program that wrote the file.
  public var software: String?
  /// The author of the picture.
  public var artist: String?
  /// The copyright notice.
  public var copyright: String?
  /// The date and time of the last change of the file.
  public var modified: EXIFDate?
  /// The date and time at which the picture was taken.
  public var original: EXIFDate?
  /// The exposure time, in seconds.
  public var exposureTime: Double?
  /// The f-number: the focal length over the aperture.
  public var fNumber: Double?
  /// The sensitivity in ISO units.
  public var iso: Int?
  /// The focal length, in millimetres.
  public var focalLength: Double?
  /// A Boolean value that indicates whether the flash fired.
  public var flashFired: Bool?
  /// The latitude in degrees, positive to the north.
  public var latitude: Double?
  /// The longitude in degrees, positive to the east.
  public var longitude: Double?
  /// The altitude in metres above sea level.
  public var altitude: Double?
  /// The width in pixels that the camera wrote, before orientation.
  ///
  /// Programs that crop may not have updated it.
  public var pixelWidth: Int?
  /// The height in pixels that the camera wrote, before orientation.
  public var pixelHeight: Int?

  /// Makes empty fields.
  package init() {}

  /// Reads the fields of a TIFF block.
  ///
  /// From a damaged block it reads the fields that it can.
  ///
  /// Complexity: O(entries), at most 65,535 in each of three directories.
  public init(_ exif: Data) {
    exif.reading { if let file = TIFFBlock($0) { read(EXIFDirectories(file)) } }
  }

  /// Reads the fields of directories.
  private mutating func read(_ directories: EXIFDirectories) {
    var times = EXIFDate.Texts()
    if let main = directories.main { readMain(main, &times) }
    if let exposure = directories.exposure { readExposure(exposure, &times) }
    if let place = directories.place { readPlace(place) }
    modified = EXIFDate(times.modified, times.modifiedFraction, times.modifiedOffset)
    original = EXIFDate(times.original, times.originalFraction, times.originalOffset)
  }

  private mutating func readMain(_ file: TIFFBlock, _ times: inout EXIFDate.Texts) {
    file.forEachEntry(of: file.firstDirectory) { tag, value in
      switch tag {
      case 0x010F: make = value.text
      case 0x0110: model = value.text
      case 0x0112: orientation = value.integer.flatMap { Orientation(rawValue: $0) }
      case 0x0131: software = value.text
      case 0x0132: times.modified = value.text
      case 0x013B: artist = value.text
      case 0x8298: copyright = value.text
      default: break
      }
    }
  }

  private mutating func readExposure(_ file: TIFFBlock, _ times: inout EXIFDate.Texts) {
    file.forEachEntry(of: file.firstDirectory) { tag, value in
      switch tag {
      case 0x829A: exposureTime = value.number
      case 0x829D: fNumber = value.number
      case 0x8827: iso = value.integer
      case 0x9003: times.original = value.text
      case 0x9010: times.modifiedOffset = value.text
      case 0x9011: times.originalOffset = value.text
      case 0x9209: flashFired = value.integer.map { $0 & 1 == 1 }
      case 0x920A: focalLength = value.number
      case 0x9290: times.modifiedFraction = value.text
      case 0x9291: times.originalFraction = value.text
      case 0xA002: pixelWidth = value.integer
      case 0xA003: pixelHeight = value.integer
      case 0xA434: lensModel = value.text
      default: break
      }
    }
  }

  private mutating func readPlace(_ file: TIFFBlock) {
    var (south, west, below) = (false, false, false)
    file.forEachEntry(of: file.firstDirectory) { tag, value in
      switch tag {
      case 1: south = value.text == "S"
      case 2: latitude = Self.degrees(value.numbers(atMost: 3), most: 90)
      case 3: west = value.text == "W"
      case 4: longitude = Self.degrees(value.numbers(atMost: 3), most: 180)
      case 5: below = value.integer == 1
      case 6: altitude = value.number
      default: break
      }
    }
    if south { latitude?.negate() }
    if west { longitude?.negate() }
    if below { altitude?.negate() }
  }

  /// Combines degrees, minutes and seconds into one number.
  private static func degrees(_ parts: [Double], most: Double) -> Double? {
    guard let first = parts.first else { return nil }
    let value = first + (parts.count > 1 ? parts[1] / 60 : 0) + (parts.count > 2 ? parts[2] / 3600 : 0)
    return value >= 0 && value <= most ? value : nil
  }
}
