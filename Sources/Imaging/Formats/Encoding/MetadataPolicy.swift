package import VitrineRuntime

/// The metadata of the original that is written into an encoded image.
///
/// Whatever the policy: pixels are written upright, so the orientation says so, and colours outside sRGB come with
/// their profile.
public struct MetadataPolicy: Sendable, Hashable {
  /// A kind of metadata, to be kept by name.
  public enum Field: String, Sendable, Hashable, CaseIterable {
    /// The copyright notice.
    case copyright
    /// The author.
    case author
    /// The date and time at which the picture was taken.
    case captureTime = "capture-time"
    /// The maker and model of the camera, and the model of the lens.
    case camera
    /// Exposure time, f-number, sensitivity, focal length and flash.
    case exposure
    /// Latitude, longitude and altitude.
    case location
    /// The map that makes the picture brighter than white, where the format has room for it: ``EncoderFeatures/gainMap``.
    case gainMap = "gain-map"
  }

  private enum Choice: Sendable, Hashable {
    case strip
    case keep
    case only(Set<Field>)
  }

  private let choice: Choice

  /// Nothing is written but what the pixels mean; the default.
  ///
  /// The gain map is left out, too: the picture is no brighter than white on any display.
  public static let strip = MetadataPolicy(choice: .strip)

  /// EXIF and XMP of the original are written, with the place where the picture was taken, and its gain map.
  ///
  /// What no longer holds is changed or left out: orientation, size, and the thumbnail in EXIF. Notes of the camera's
  /// maker stay as they are; a few makers put a preview into them, which shows what a crop has cut off.
  public static let keep = MetadataPolicy(choice: .keep)

  /// Only the named kinds are written, as EXIF or as a gain map.
  ///
  /// The place is written only if ``Field/location`` is among them.
  public static func only(_ fields: Field...) -> MetadataPolicy { only(Set(fields)) }

  /// Only the named kinds are written, as EXIF or as a gain map.
  public static func only(_ fields: Set<Field>) -> MetadataPolicy {
    MetadataPolicy(choice: fields.isEmpty ? .strip : .only(fields))
  }

  /// Returns a policy with which one more kind is written.
  package func adding(_ field: Field) -> MetadataPolicy { fields.map { .only($0.union([field])) } ?? self }

  /// The named kinds; `nil` for all.
  var fields: Set<Field>? {
    switch choice {
    case .strip: []
    case .keep: nil
    case .only(let fields): fields
    }
  }

  /// True if the gain map is written.
  package var keepsGainMap: Bool { fields?.contains(.gainMap) ?? true }

  /// The text for keys of caches.
  package var identifier: String {
    switch choice {
    case .strip: "strip"
    case .keep: "keep"
    case .only(let fields): fields.map(\.rawValue).sorted().joined(separator: "+")
    }
  }
}

extension MetadataPolicy: CustomStringConvertible {
  /// `strip`, `keep`, or the names of the kinds.
  public var description: String { identifier }
}

/// Metadata as a file has it.
package struct WrittenMetadata: Sendable, Hashable {
  /// A TIFF block.
  package var exif: Data?
  /// A packet in UTF-8.
  package var xmp: Data?

  package init(exif: Data? = nil, xmp: Data? = nil) { (self.exif, self.xmp) = (exif, xmp) }

  /// Returns what fits into segments of JPEG of a maximum length, 65,533 bytes behind the two that say it.
  ///
  /// Each begins with the name of its content, which counts. A block that is too long is replaced by its common
  /// fields.
  package func fitting(_ limit: Int) -> WrittenMetadata {
    let names = (exif: Array("Exif\0\0".utf8).count, xmp: JPEGMetadata.xmpName.count)
    func fits(_ block: Data) -> Bool { block.count + names.exif <= limit }
    let block = exif.flatMap { fits($0) ? $0 : EXIFFields($0).block() }
    return WrittenMetadata(
      exif: block.flatMap { fits($0) ? $0 : nil },
      xmp: xmp.flatMap { $0.count + names.xmp <= limit ? $0 : nil },
    )
  }
}

extension MetadataPolicy {
  /// Returns what is written of an original's metadata into an image of a size in pixels, which is upright.
  ///
  /// EXIF that cannot be changed in place is replaced by its common fields. XMP is written only if all is kept; the
  /// part of it that did not fit into one segment never is.
  package func written(_ metadata: ImageMetadata?, width: Int, height: Int) -> WrittenMetadata {
    guard let metadata, self != .strip else { return WrittenMetadata() }
    guard let kinds = fields else {
      return WrittenMetadata(
        exif: metadata.exif.flatMap { EXIF.updated($0, width: width, height: height) }
          ?? metadata.fields.updated(width: width, height: height).block(),
        xmp: metadata.xmp.flatMap { XMP.updated($0, width: width, height: height) },
      )
    }
    return WrittenMetadata(exif: metadata.completed(kinds).only(kinds).block())
  }
}

extension EXIFFields {
  /// Returns the fields of an upright image of another size.
  fileprivate func updated(width: Int, height: Int) -> EXIFFields {
    var result = self
    result.orientation = orientation.map { _ in .up }
    result.pixelWidth = pixelWidth.map { _ in width }
    result.pixelHeight = pixelHeight.map { _ in height }
    return result
  }
}

extension ImageMetadata {
  /// Returns the fields of EXIF, with fields of XMP in the place of missing ones of the kinds named.
  fileprivate func completed(_ kinds: Set<MetadataPolicy.Field>) -> EXIFFields {
    var result = fields
    let isMissing =
      kinds.contains(.copyright) && result.copyright == nil || kinds.contains(.author) && result.artist == nil
      || kinds.contains(.captureTime) && result.original == nil
    guard isMissing, let properties = xmp.flatMap({ XMPProperties($0) }) else { return result }
    result.copyright = result.copyright ?? properties.copyright
    result.artist = result.artist ?? properties.author
    result.original = result.original ?? properties.captureTime
    return result
  }
}
