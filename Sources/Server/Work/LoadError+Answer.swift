import Vitrine
import VitrineImaging
import VitrineRuntime

extension LoadError {
  /// The status and the text for a client: what failed, without paths, addresses and other internals.
  var refusal: Refusal {
    var refusal = plainRefusal
    refusal.reason = description
    return refusal
  }

  private var plainRefusal: Refusal {
    switch code {
    case .invalidURL: Refusal(status: 400, text: "the source is not an http or https URL")
    case .forbidden: Refusal(status: 403, text: "the source is not allowed")
    case .badStatus where status == 404 || status == 410: Refusal(status: 404, text: "the source does not exist")
    case .badStatus: Refusal(status: 502, text: "the source's server answered with status \(status ?? 0)")
    case .unreadable, .notCached: Refusal(status: 404, text: "the source does not exist")
    case .tooLarge: Refusal(status: 422, text: "the source has too many bytes")
    case .undecodable: Refusal(status: 422, text: undecodableText)
    case .unencodable where (cause as? ImageError)?.limit == .memoryByteCount:
      Refusal(status: 422, text: "the image is too large to be written in this format")
    case .unencodable: Refusal(status: 422, text: "the image cannot be written in this format")
    case .processingFailed: Refusal(status: 422, text: "the image cannot be processed like this")
    case .overloaded: Refusal(status: 503, text: "too many images are being made; try again in a moment")
    case .fetchFailed, .offline: Refusal(status: 502, text: "the source's server could not be reached")
    case .cancelled: Refusal(status: 503, text: "the request was given up")
    default: Refusal(status: 500, text: "the image could not be made")
    }
  }

  /// Tells a client whether to send another file, a smaller one, or the same one later.
  private var undecodableText: String {
    switch (cause as? ImageError)?.code {
    case .overLimit: "the source is too large to be decoded"
    case .outOfTime: "decoding the source took too long"
    case .truncated, .corrupt: "the source is incomplete or damaged"
    default: "the source is no image that can be read"
    }
  }
}
