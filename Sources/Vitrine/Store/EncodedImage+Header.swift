import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

extension EncodedImage {
  /// The metadata with which a data cache stores an encoded image: lines of text.
  struct Header: Sendable {
    private static let mark = "encoded 2"
    private static let lineCount = 8

    let format: ImageFormat
    let width: Int
    let height: Int
    let status: Int?
    private let validity: Validity

    init(of image: EncodedImage) {
      (format, width, height, status) = (image.format, image.width, image.height, image.status)
      validity = image.validity
    }

    /// Creates the header of the same bytes with another validity.
    init(_ other: Header, _ validity: Validity) {
      (format, width, height, status) = (other.format, other.width, other.height, other.status)
      self.validity = validity
    }

    /// Returns the validity with this end of freshness, which the cache stores and may renew.
    func validity(until expires: Date?) -> Validity {
      var validity = validity
      validity.expires = expires
      return validity
    }

    var encoded: Data {
      let times = [
        validity.confirmed, validity.usableOnErrorUntil, validity.usableOnServerErrorUntil,
        validity.usableWhileRevalidatingUntil, validity.modified,
      ].map { $0.map { "\($0.timeIntervalSince1970)" } ?? "-" }
      // No field can contain a line break.
      let lines =
        [
          Self.mark, format.name, format.mediaType, format.fileExtension, "\(width) \(height)",
          status.map { "\($0)" } ?? "-", times.joined(separator: " "), validity.isPrivate ? "private" : "public",
        ] + validity.variation.map { "\($0.name):\($0.value)" }
      return Data(lines.joined(separator: "\n").utf8)
    }

    /// Decodes ``encoded``; returns `nil` for any other data.
    init?(encoded: Data) {
      guard
        let lines = String(validating: encoded, as: UTF8.self)?
          .split(separator: "\n", omittingEmptySubsequences: false).map(String.init),
        lines.count >= Self.lineCount, lines[0] == Self.mark
      else { return nil }
      let sides = lines[4].split(separator: " ").compactMap { Int($0) }
      let times = lines[6].split(separator: " ").map { text -> Date?? in
        text == "-" ? .some(nil) : Double(text).map { Date(timeIntervalSince1970: $0) }
      }
      guard sides.count == 2, sides.allSatisfy({ $0 > 0 }), times.count == 5, !times.contains(where: { $0 == nil }),
        ["private", "public"].contains(lines[7])
      else { return nil }
      var variation = HTTPFields()
      for line in lines[Self.lineCount...] {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        variation.append(name: String(line[..<colon]), value: String(line[line.utf8.index(after: colon)...]))
      }
      format = ImageFormat(name: lines[1], mediaType: lines[2], fileExtension: lines[3])
      (width, height, status) = (sides[0], sides[1], Int(lines[5]))
      let known = times.map { $0 ?? nil }
      validity = Validity(
        expires: nil,
        confirmed: known[0],
        usableOnErrorUntil: known[1],
        usableOnServerErrorUntil: known[2],
        usableWhileRevalidatingUntil: known[3],
        variation: variation,
        isKept: true,
        isPrivate: lines[7] == "private",
        modified: known[4],
      )
    }
  }

  /// The entry for a data cache.
  ///
  /// Its time of storage is the last revalidation of its source, if that is known, so that machines that share a cache
  /// write in the order of the server's responses.
  func entry(stored: Date) -> CachedData {
    var entry = CachedData(
      data: data,
      kind: .finished,
      metadata: Header(of: self).encoded,
      contentID: source,
      expires: validity.expires,
      stored: min(stored, validity.confirmed ?? stored),
    )
    entry.isPrivate = validity.isPrivate
    return entry
  }
}
