import Testing
import VitrineCaching
import VitrineHTTP
import VitrineRuntime
import VitrineTiers

@testable import VitrineS3

/// Names of objects: of those that images come from, and of those that a cache makes.
@Suite
struct NameTests {
  @Test(arguments: [
    ("s3://photos/cat.jpg", "photos", "cat.jpg"), ("S3://photos/a b+c&d=e?f#g%20h", "photos", "a b+c&d=e?f#g%20h"),
    ("s3://photos//a//../b/./c/", "photos", "/a//../b/./c/"), ("s3://photos/ĝardeno/猫.png", "photos", "ĝardeno/猫.png"),
    ("s3://photos/..", "photos", ".."), ("s3://photos/\u{301}a\n", "photos", "\u{301}a\n"),
  ])
  func aKeyIsTakenAsWrittenAndSurvivesItsStandIn(text: String, bucket: String, key: String) throws {
    let object = try #require(ObjectURL(text))
    #expect(object.bucket == bucket && object.key.utf8.elementsEqual(key.utf8))
    #expect(ObjectURL(standIn: object.standIn.string) == object)
    // As a pipeline has it: parsed anew from its text.
    #expect(try HTTPURL(object.standIn.string) == object.standIn)
    #expect(ObjectURL(standIn: try HTTPURL(object.standIn.string).string) == object)
    #expect(ObjectURL(object.text) == object)
  }

  @Test(arguments: [
    "s3://photos", "s3://photos/", "s3:///key", "s3://-photos/key", "s3://pho tos/key", "s3://a..b/key", "s3:/a/b",
    "http://a/b",
    "s3://photos/a\0b", "s3://photos/" + String(repeating: "k", count: 1025), "s3://pho@tos:80/key",
  ])
  func whatIsNoObjectIsRefused(text: String) {
    #expect(ObjectURL(text) == nil)
  }

  @Test(arguments: [
    ("plain.jpg", "plain.jpg"), ("a b+c", "a%20b%2Bc"), ("a//b/../c", "a//b/../c"), ("é", "%C3%A9"),
    ("100%", "100%25"),
    ("a&b=c?d#e", "a%26b%3Dc%3Fd%23e"), ("(x)*'!", "%28x%29%2A%27%21"), ("~-._", "~-._"),
  ])
  func aKeyIsEncodedOnceAndAsItIsSigned(key: String, path: String) throws {
    let target = S3Target(try #require(ObjectURL(bucket: "photos", key: key)))
    var configuration = S3Configuration(region: "eu-west-1", credentials: .anonymous)
    #expect(
      target.url(region: "eu-west-1", configuration).string == "https://photos.s3.eu-west-1.amazonaws.com/\(path)"
    )
    configuration.endpoint = try HTTPURL("http://127.0.0.1:9000/")
    let url = target.url(region: "eu-west-1", configuration)
    #expect(url.string == "http://127.0.0.1:9000/photos/\(path)")
    let parts = S3Transport.parts(of: HTTPRequest(url), SignatureV4.emptyHash)
    #expect(parts.path == "/photos/\(path)" && parts.query == "")
    #expect(parts.fields.first?.value == "127.0.0.1:9000")
  }

  @Test
  func bucketsAreInTheHostWhereCertificatesCoverThem() throws {
    func url(_ bucket: String, _ change: (inout S3Configuration) throws -> Void) throws -> String {
      var configuration = S3Configuration(region: "cn-north-1", credentials: .anonymous)
      try change(&configuration)
      return S3Target(bucket: bucket, query: [("list-type", "2")]).url(region: "cn-north-1", configuration).string
    }
    #expect(try url("photos") { _ in } == "https://photos.s3.cn-north-1.amazonaws.com.cn/?list-type=2")
    #expect(try url("a.b") { _ in } == "https://s3.cn-north-1.amazonaws.com.cn/a.b?list-type=2")
    #expect(try url("photos") { $0.addressing = .path } == "https://s3.cn-north-1.amazonaws.com.cn/photos?list-type=2")
    let endpoint = try HTTPURL("https://store.invalid:8443/s3/")
    #expect(try url("photos") { $0.endpoint = endpoint } == "https://store.invalid:8443/s3/photos?list-type=2")
    #expect(
      try url("photos") { ($0.endpoint, $0.addressing) = (endpoint, .virtualHosted) }
        == "https://photos.store.invalid:8443/s3?list-type=2"
    )
  }

  @Test
  func theNameOfAnEntryIsItsKeyAndCanBeReadBack() {
    for key in keys(longerThan: 0) {
      let name = ObjectName.name(of: key)
      #expect(name.utf8.count <= 824)
      #expect(
        name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { (1...255).contains($0.utf8.count) }
      )
      #expect(name.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"\"<>&%+?#\\".utf8.contains($0) })
      if let read = ObjectName.key(of: name) { #expect(read == key) } else { #expect(key.bytes.count > 250) }
    }
    #expect(Set(keys(longerThan: 0).map(ObjectName.name)).count == Set(keys(longerThan: 0)).count)
    for name in ["", "~", "a", "a b~", "_4~", "_41~", "__~", "_ZZ~", "a/b~", "a~b~"] where name != "~" {
      #expect(ObjectName.key(of: name) == nil, "\(name)")
    }
  }

  @Test
  func theNameOfAnExtendedKeyBeginsLikeThatOfTheKey() {
    for base in keys(longerThan: 0) {
      for count in [0, 1, 30, 300, 1000] {
        let longer = base.extended { $0.append(String(repeating: "x", count: count)) }
        #expect(ObjectName.name(of: longer).hasPrefix(ObjectName.prefix(of: base)))
        #expect(ObjectName.name(of: base).hasPrefix(ObjectName.prefix(of: base)))
      }
    }
    // Short keys do not begin like others.
    let (one, other) = (key("url", "https://a.invalid/1"), key("url", "https://a.invalid/12"))
    #expect(!ObjectName.name(of: other).hasPrefix(ObjectName.prefix(of: one)))
  }

  /// Keys of all lengths around those at which names change.
  private func keys(longerThan least: Int) -> [CacheKey] {
    var keys = [key("url", "https://example.invalid/a?b=c"), key(""), CacheKey(bytes: [0, 255, 128, 1])]
    for count in [
      1, 179, 180, 181, 359, 360, 361, 596, 598, 599, 600, 601, 602, 755, 757, 758, 759, 760, 761, 762, 5000,
    ] {
      keys.append(CacheKey(bytes: [UInt8](repeating: UInt8(ascii: "a"), count: count)))
      keys.append(CacheKey(bytes: [UInt8](repeating: UInt8(ascii: "b"), count: count) + [7]))
      keys.append(CacheKey(bytes: [UInt8](repeating: UInt8(ascii: "c"), count: count) + [7, 8]))
      keys.append(CacheKey(bytes: [UInt8](repeating: 9, count: count / 3)))
    }
    return keys.filter { $0.bytes.count > least }
  }
}
