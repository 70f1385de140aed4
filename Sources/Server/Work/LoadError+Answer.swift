import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

extension LoadError {
  /// The status and the text for a client: what failed, without paths, addresses and other internals.
  var refusal: Refusal {
    let (status, text) = answer
    return Refusal(status: status, text: text, code: deepestCode, reason: description)
  }

  /// The kind of the deepest cause that has one, which says more: `timedOut` rather than `fetchFailed`.
  private var deepestCode: String {
    ((cause as? HTTPError)?.cause as? FileError)?.refusalCode ?? (cause as? HTTPError)?.code.description
      ?? (cause as? ImageError)?.code.description ?? code.description
  }

  private var answer: (status: Int, text: String) {
    switch code {
    case .invalidURL: (400, "the source is not an http or https URL")
    case .forbidden: (403, "the source is not allowed")
    case .badStatus where status == 404 || status == 410: (404, "the source does not exist")
    case .badStatus: (502, "the source's server answered with status \(status ?? 0)")
    case .unreadable, .notCached: (404, "the source does not exist")
    case .tooLarge: (422, "the source has too many bytes")
    case .undecodable: (422, undecodableText)
    case .unencodable where (cause as? ImageError)?.limit == .memoryByteCount:
      (422, "the image is too large to be written in this format")
    case .unencodable: (422, "the image cannot be written in this format")
    case .processingFailed: (422, "the image cannot be processed like this")
    case .overloaded: (503, "too many images are being made; try again in a moment")
    case .fetchFailed, .offline: (502, "the source's server could not be reached")
    case .cancelled: (503, "the request was given up")
    default: (500, "the image could not be made")
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
