package import VitrineHTTP
import VitrineRuntime

extension S3Client {
  /// Reads an object, or a part of it.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - range: The bytes to read. Defaults to all.
  ///   - limit: The maximum number of bytes. Defaults to the settings' limit.
  ///   - deadline: The time for all attempts.
  /// - Returns: The head and the bytes, or `nil` if there is no such object.
  /// - Throws: ``S3Error`` if the object cannot be read.
  package func read(
    _ object: ObjectURL,
    range: Range<Int>? = nil,
    limit: Int? = nil,
    within deadline: Duration,
  ) async throws(S3Error) -> (response: HTTPResponse, body: Data)? {
    var headers: HTTPFields = [:]
    if let range { headers["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)" }
    let answer = try await send(
      S3Target(object),
      headers: headers,
      limit: limit ?? configuration.maxObjectBytes,
      within: deadline,
    )
    if Self.isMissing(answer.response, answer.body) { return nil }
    guard answer.response.status == (range == nil ? 200 : 206) else {
      throw S3Error(answer.response, answer.body, object.text)
    }
    return answer
  }

  /// Reads the head of an object, or returns `nil` if there is none.
  package func head(_ object: ObjectURL, within deadline: Duration) async throws(S3Error) -> HTTPResponse? {
    let answer = try await send(S3Target(object), .head, within: deadline)
    if answer.response.status == 404 { return nil }
    guard answer.response.isSuccess else { throw S3Error(answer.response, Data(), object.text) }
    return answer.response
  }

  /// Writes an object.
  package func write(
    _ object: ObjectURL,
    _ body: Data,
    headers: HTTPFields = [:],
    within deadline: Duration,
  ) async throws(S3Error) {
    guard body.count <= configuration.maxObjectBytes else {
      throw S3Error(
        .tooLarge,
        object.text,
        "\(body.count) bytes are more than the limit of \(configuration.maxObjectBytes)",
      )
    }
    let answer = try await send(S3Target(object), .put, headers: headers, body: body, within: deadline)
    guard answer.response.isSuccess else { throw S3Error(answer.response, answer.body, object.text) }
  }

  /// Replaces the metadata of an object, if it still has an entity tag; its bytes stay where they are.
  ///
  /// - Returns: `false` if the object has changed or is gone.
  package func replaceMetadata(
    of object: ObjectURL,
    ifMatch tag: String,
    headers: HTTPFields,
    within deadline: Duration,
  ) async throws(S3Error) -> Bool {
    var headers = headers
    headers["x-amz-copy-source"] =
      "/\(PercentEncoding.encode(object.bucket))/\(PercentEncoding.encode(object.key, keeping: "/"))"
    headers["x-amz-copy-source-if-match"] = tag
    headers["x-amz-metadata-directive"] = "REPLACE"
    let answer = try await send(S3Target(object), .put, headers: headers, within: deadline)
    if [404, 412].contains(answer.response.status) { return false }
    // The response to a long copy begins with status 200, but may end with an error.
    guard answer.response.isSuccess, S3ErrorDocument(answer.body).code == nil else {
      throw S3Error(answer.response, answer.body, object.text)
    }
    return true
  }

  /// Removes an object, if there is one.
  package func remove(_ object: ObjectURL, within deadline: Duration) async throws(S3Error) {
    let answer = try await send(S3Target(object), .delete, within: deadline)
    guard answer.response.isSuccess || Self.isMissing(answer.response, answer.body) else {
      throw S3Error(answer.response, answer.body, object.text)
    }
  }

  /// Returns whether an object is missing, but not its bucket.
  private static func isMissing(_ response: HTTPResponse, _ body: Data) -> Bool {
    response.status == 404 && S3ErrorDocument(body).code != "NoSuchBucket"
  }
}
