import VitrineHTTP
import VitrineRuntime

/// An object in a list.
package struct S3ListedObject: Sendable, Hashable {
  /// The key.
  package let key: String
  /// The length in bytes.
  package let size: Int
}

/// A page of a list.
struct S3Page: Sendable {
  var objects: [S3ListedObject] = []
  /// The token of the next page; `nil` at the end.
  var next: String?

  /// Parses a response of ListObjectsV2.
  init(_ body: Data) throws(XMLReader.Failure) {
    var reader = XMLReader(body)
    var (key, size, isEncoded, isTruncated, token) = (String?.none, 0, false, false, String?.none)
    while let element = try reader.next() {
      switch element.path {
      case ["ListBucketResult", "EncodingType"]: isEncoded = element.text == "url"
      case ["ListBucketResult", "IsTruncated"]: isTruncated = element.text == "true"
      case ["ListBucketResult", "NextContinuationToken"]: token = element.text
      case ["ListBucketResult", "Contents", "Key"]:
        if let key { objects.append(S3ListedObject(key: key, size: size)) }
        (key, size) = (element.text, 0)
      case ["ListBucketResult", "Contents", "Size"]: size = Int(element.text) ?? 0
      default: break
      }
    }
    if let key { objects.append(S3ListedObject(key: key, size: size)) }
    if isEncoded {
      // The keys are encoded like forms: a space is a plus.
      objects = objects.map { object in
        let text = object.key.replacing("+", with: " ")
        return S3ListedObject(key: PercentEncoding.decode(text) ?? object.key, size: object.size)
      }
    }
    next = isTruncated ? token : nil
  }
}

extension S3Client {
  /// The maximum number of objects in a page, and in a request to remove objects.
  private static let pageLimit = 1000
  /// The maximum size of a response, in bytes.
  private static let answerLimit = 8 << 20

  /// Calls a closure with the objects whose keys have a prefix, page by page in the order of the server.
  ///
  /// - Parameters:
  ///   - bucket: The bucket.
  ///   - prefix: The prefix of the keys.
  ///   - limit: The maximum number of objects.
  ///   - deadline: The time for each page.
  ///   - body: The closure that is called with each page.
  /// - Returns: `false` if there are more than `limit` objects.
  /// - Throws: ``S3Error`` of the server, or of the closure.
  @discardableResult
  package func list(
    _ bucket: String,
    prefix: String,
    limit: Int,
    within deadline: Duration,
    _ body: ([S3ListedObject]) async throws(S3Error) -> Void,
  ) async throws(S3Error) -> Bool {
    var token: String?
    var count = 0
    repeat {
      try Self.checkCancellation(bucket)
      let page = try await page(bucket, prefix, after: token, min(Self.pageLimit, limit - count), within: deadline)
      count += page.objects.count
      try await body(page.objects.filter { $0.key.utf8.starts(with: prefix.utf8) })
      guard let next = page.next else { return true }
      // A server that repeats a page would otherwise be asked for ever.
      guard next != token, !page.objects.isEmpty else {
        throw S3Error(.damaged, "s3://\(bucket)", "the server's list does not move on")
      }
      token = next
    } while count < limit
    return false
  }

  private func page(
    _ bucket: String,
    _ prefix: String,
    after token: String?,
    _ limit: Int,
    within deadline: Duration,
  ) async throws(S3Error) -> S3Page {
    var query: [(name: String, value: String)] = [
      ("list-type", "2"), ("encoding-type", "url"), ("max-keys", "\(limit)"), ("prefix", prefix),
    ]
    if let token { query.append(("continuation-token", token)) }
    let target = S3Target(bucket: bucket, query: query)
    let answer = try await send(target, limit: Self.answerLimit, within: deadline)
    guard answer.response.isSuccess else { throw S3Error(answer.response, answer.body, target.text) }
    do throws(XMLReader.Failure) {
      return try S3Page(answer.body)
    } catch {
      throw S3Error(.damaged, target.text, "the server's list cannot be read: \(error)")
    }
  }

  /// Removes objects, up to a thousand with one request if the server supports that.
  package func remove(_ keys: [String], in bucket: String, within deadline: Duration) async throws(S3Error) {
    var rest = keys[...]
    while !rest.isEmpty {
      try Self.checkCancellation(bucket)
      let some = Array(rest.prefix(Self.pageLimit))
      rest = rest.dropFirst(some.count)
      let left = some.count > 1 ? try await removeAtOnce(some, bucket, deadline) : some
      try await removeOneByOne(left, bucket, deadline)
    }
  }

  /// Removes objects with one request, and returns the keys that must be removed one by one.
  private func removeAtOnce(_ keys: [String], _ bucket: String, _ deadline: Duration) async throws(S3Error) -> [String]
  {
    guard keys.allSatisfy(\.isXMLText) else { return keys }
    let objects = keys.map { "<Object><Key>\($0.escapedForXML)</Key></Object>" }.joined()
    let body = Data(
      "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>\(objects)</Delete>".utf8
    )
    let headers: HTTPFields = [
      "Content-Type": "application/xml",
      "x-amz-sdk-checksum-algorithm": "SHA256",
      "x-amz-checksum-sha256": Data(SHA256.hash(body)).base64EncodedString(),
    ]
    let target = S3Target(bucket: bucket, query: [("delete", "")])
    let answer = try await send(target, .post, headers: headers, body: body, limit: Self.answerLimit, within: deadline)
    // Some servers do not have this request, or require an MD5 sum with it.
    if [400, 405, 501].contains(answer.response.status) { return keys }
    guard answer.response.isSuccess else { throw S3Error(answer.response, answer.body, target.text) }
    var reader = XMLReader(answer.body)
    var failed: [String] = []
    while let element = try? reader.next() {
      if element.path == ["DeleteResult", "Error", "Key"] { failed.append(element.text) }
    }
    return failed
  }

  private func removeOneByOne(_ keys: [String], _ bucket: String, _ deadline: Duration) async throws(S3Error) {
    for key in keys {
      try Self.checkCancellation(bucket)
      try await remove(try object(bucket, key), within: deadline)
    }
  }

  private static func checkCancellation(_ bucket: String) throws(S3Error) {
    if Task.isCancelled { throw S3Error(.cancelled, "s3://\(bucket)", "was cancelled") }
  }
}

extension String {
  /// A Boolean value that indicates whether XML can represent the text.
  fileprivate var isXMLText: Bool {
    unicodeScalars.allSatisfy { $0.value >= 32 && !(0xFFFE...0xFFFF).contains($0.value) }
  }

  fileprivate var escapedForXML: String {
    replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
