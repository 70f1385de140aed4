import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// The image to make for a request, as its URL, its fields and the settings say.
struct Order: Sendable {
  /// The kind of the answer.
  enum Kind: Sendable {
    case image, info
    /// The answer to a viewer that zooms, with the beginning of the URLs that it names.
    case zoom(ZoomRequest, base: String)
  }

  var kind = Kind.image
  /// Names everything that changes the answer; equal orders are one job.
  var key: ByteString
  /// The URL that is loaded, in canonical form.
  var url: String
  /// Names options and format, whatever the source.
  var variant = ""
  var request: ImageRequest
  var encoding: ImageEncoding
  /// The source that is loaded if there is an error; `nil` for none.
  var fallback: Fallback?
  var terms = AnswerTerms()

  /// The URL to which the answer leads; `nil` for an answer of its own.
  var redirect: String? {
    guard case .zoom(let zoom, let base) = kind, zoom.kind == .base else { return nil }
    return "\(base)/iiif/3/\(zoom.identifier)/info.json"
  }
}

/// A source that is shown if the requested one cannot be.
struct Fallback: Sendable {
  /// The URL that is loaded, in canonical form.
  let url: String
  let request: ImageRequest
}

/// The circumstances of one request, which another request for the same image does not share.
struct AnswerTerms: Sendable {
  /// The fields of the request that have been looked at.
  var vary: [String] = []
  /// The end of the URL's validity; `nil` for ever.
  var expires: Date?
  /// The name of the file, without an extension; `nil` for none.
  var fileName: String?
  /// True if the file is to be saved instead of shown.
  var isAttachment = false

  /// True if the URL may still be used.
  func areValid(at now: Date) -> Bool { expires.map { now < $0 } ?? true }
}

/// The reason why a request is refused, for its client.
struct Refusal: Error, Sendable {
  let status: Int
  /// A sentence without internals.
  let text: String
  /// The kind, which the log and a metric name.
  let code: String
  /// The cause, for the log only.
  var reason: String?
  /// An image to show instead; `nil` for the text.
  var placeholder: Rendered?

  init(status: Int, text: String, code: String, reason: String? = nil) {
    (self.status, self.text, self.code, self.reason) = (status, text, code, reason)
  }

  /// There is no memory for one more body.
  static let full = Refusal(
    status: 503,
    text: "too many images are being sent; try again in a moment",
    code: "overloaded",
  )
}
