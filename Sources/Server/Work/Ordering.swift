import Vitrine
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// Makes orders of requests.
struct Ordering: Sendable {
  init(_ configuration: ThumbnailServer.Configuration) {}

  /// The fields that may change an answer, as one text: requests for one target with equal texts have one answer.
  func fields(_ request: borrowing ReceivedRequest) -> String { request["Accept"] ?? "" }

  func order(_ request: borrowing ReceivedRequest) throws(Refusal) -> Order {
    // A stand-in: /x/rs:fit:W:H/plain/local:///PATH[@ext]
    let parts = request.target.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: true)
    guard parts.count == 4, parts[2] == "plain" else { throw Refusal(status: 404, text: "no such image") }
    let numbers = parts[1].split(separator: ":").compactMap { Double($0) }
    var (source, format) = (String(parts[3]), ImageFormat.jpeg)
    if source.hasSuffix("@webp") { (source, format) = (String(source.dropLast(5)), .webp) }
    if source.hasSuffix("@avif") { (source, format) = (String(source.dropLast(5)), .avif) }
    let url: String
    if source.hasPrefix("local:///") {
      guard let local = LocalFiles.url(of: String(source.dropFirst(9))) else {
        throw Refusal(status: 404, text: "no such file")
      }
      url = local
    } else {
      url = source
    }
    let size = TargetSize.pixels(numbers.first ?? 300, numbers.last ?? 300)
    return Order(
      key: "\(parts[1])|\(url)|\(format)",
      request: ImageRequest(url: url, size: size),
      encoding: ImageEncoding(format),
      vary: ["Accept"],
    )
  }
}
