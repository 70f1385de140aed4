import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

extension EncodedImage {
  /// The metadata with which a data cache stores an encoded image, written by a ``HeadWriter``.
  ///
  /// Entries of earlier versions, whose heads were text, are not read: they are misses, and are encoded again.
  struct Header: Sendable {
    private static let mark = Data("encoded3".utf8)

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

    func validity(until expires: Date?) -> Validity { validity.ending(at: expires) }

    var encoded: Data {
      var head = HeadWriter(capacity: 256)
      head.append(Self.mark)
      for number in [width, height, status ?? 0, validity.isPrivate ? 1 : 0] { head.append(count: number) }
      head.append(datesOf: validity)
      head.append(format, [], validity)
      return head.data
    }

    /// Decodes ``encoded``; returns `nil` for any other data.
    init?(encoded: Data) {
      guard var head = HeadReader(encoded), head.data(Self.mark.count) == Self.mark,
        let width = head.count(), width > 0, let height = head.count(), height > 0,
        let status = head.count(), let privacy = head.count(), privacy < 2,
        var validity = head.validity(isPrivate: privacy == 1), let text = head.text()
      else { return nil }
      validity.variation = text.variation
      (format, self.width, self.height, self.validity) = (text.format, width, height, validity)
      self.status = status == 0 ? nil : status
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
