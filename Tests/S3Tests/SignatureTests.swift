import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineS3

/// The examples of Amazon's documentation of S3 ("Authenticating Requests"), and those vectors of the test suite for
/// Signature Version 4 that do not concern how other services treat paths.
@Suite
struct SignatureTests {
  private static let host = (name: "host", value: "examplebucket.s3.amazonaws.com")
  private static let date = (name: "x-amz-date", value: "20130524T000000Z")

  private func sign(_ parts: SignatureV4.Parts) -> String {
    SignatureV4(exampleKeys, region: "us-east-1").authorization(parts, at: exampleDay)
  }

  @Test
  func theExampleOfGettingAnObject() {
    let parts = SignatureV4.Parts(
      path: "/test.txt",
      fields: [Self.host, ("Range", "bytes=0-9"), ("x-amz-content-sha256", SignatureV4.emptyHash), Self.date],
    )
    let lines = [
      "GET", "/test.txt", "", "host:examplebucket.s3.amazonaws.com", "range:bytes=0-9",
      "x-amz-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "x-amz-date:20130524T000000Z", "", "host;range;x-amz-content-sha256;x-amz-date",
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ]
    #expect(SignatureV4.canonicalRequest(parts).text == lines.joined(separator: "\n"))
    #expect(
      sign(parts)
        == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
        + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    )
  }

  @Test
  func theExampleOfPuttingAnObject() {
    let hash = SignatureV4.hash(Data("Welcome to Amazon S3.".utf8))
    #expect(hash == "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
    let parts = SignatureV4.Parts(
      method: "PUT",
      path: "/" + PercentEncoding.encode("test$file.text", keeping: "/"),
      fields: [
        ("Date", "Fri, 24 May 2013 00:00:00 GMT"), Self.host, Self.date, ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ("x-amz-content-sha256", hash),
      ],
      bodyHash: hash,
    )
    let signature = sign(parts)
    #expect(signature.contains("SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,"))
    #expect(signature.hasSuffix("=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"))
  }

  @Test(
    "The examples of a bucket's lifecycle and of its list",
    arguments: [
      ([("lifecycle", "")], "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
      (
        [("prefix", "J"), ("max-keys", "2")], "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
      ),
    ],
  )
  func theExamplesOfABucket(query: [(String, String)], expected: String) {
    let parts = SignatureV4.Parts(
      path: "/",
      query: SignatureV4.query(query.map { (name: $0.0, value: $0.1) }),
      fields: [Self.host, ("x-amz-content-sha256", SignatureV4.emptyHash), Self.date],
    )
    #expect(sign(parts).hasSuffix("Signature=\(expected)"))
  }

  @Test
  func theExampleOfAPresignedURL() async throws {
    let clock = FixedClock(exampleDay)
    var configuration = S3Configuration(credentials: .fixed(exampleKeys))
    // The host of the example has no region.
    configuration.endpoint = try HTTPURL("https://s3.amazonaws.com")
    configuration.addressing = .virtualHosted
    let client = try S3Client(configuration, loader: makeLoader(), clock: clock)
    let url = try await client.presignedURL(bucket: "examplebucket", key: "test.txt", validFor: .seconds(86_400))
    #expect(
      url
        == "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
        + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
        + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
        + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    )
  }

  /// A vector of the suite; all are of 30 August 2015, 12:36 UTC.
  struct Vector: Sendable, CustomStringConvertible {
    let description: String
    var method = "GET"
    var path = "/"
    var query: [(name: String, value: String)] = []
    var fields: [(name: String, value: String)] = []
    var body = ""
    let signature: String
  }

  @Test(arguments: vectors)
  func theSuitesVector(_ vector: Vector) {
    let keys = S3Credentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    let parts = SignatureV4.Parts(
      method: vector.method,
      path: PercentEncoding.encode(vector.path, keeping: "/"),
      query: SignatureV4.query(vector.query),
      fields: [("Host", "example.amazonaws.com"), ("X-Amz-Date", "20150830T123600Z")] + vector.fields,
      bodyHash: SignatureV4.hash(Data(vector.body.utf8)),
    )
    let date = Date(timeIntervalSince1970: 1_440_938_160)
    #expect(SignatureV4.timestamp(date) == "20150830T123600Z")
    let authorization = SignatureV4(keys, region: "us-east-1", service: "service").authorization(parts, at: date)
    let names = (["host", "x-amz-date"] + Set(vector.fields.map { $0.name.lowercased() })).sorted()
    #expect(
      authorization
        == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        + "SignedHeaders=\(names.joined(separator: ";")), Signature=\(vector.signature)"
    )
  }

  private static let unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

  static let vectors = [
    Vector(
      description: "get-header-key-duplicate",
      fields: [("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
      signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
    ),
    Vector(
      description: "get-header-value-multiline",
      fields: [("My-Header1", "value1,value2,value3")],
      signature: "ba17b383a53190154eb5fa66a1b836cc297cc0a3d70a5d00705980573d8ff790",
    ),
    Vector(
      description: "get-header-value-order",
      fields: ["value4", "value1", "value3", "value2"].map { ("My-Header1", $0) },
      signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
    ),
    Vector(
      description: "get-header-value-trim",
      fields: [("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
      signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
    ),
    Vector(
      description: "get-unreserved",
      path: "/" + unreserved,
      signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
    ),
    Vector(
      description: "get-utf8",
      path: "/ሴ",
      signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85",
    ),
    Vector(
      description: "get-vanilla",
      signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    ),
    Vector(
      description: "get-vanilla-empty-query-key",
      query: [("Param1", "value1")],
      signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
    ),
    Vector(
      description: "get-vanilla-query-order-key-case",
      query: [("Param2", "value2"), ("Param1", "value1")],
      signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ),
    Vector(
      description: "get-vanilla-query-unreserved",
      query: [(unreserved, unreserved)],
      signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
    ),
    Vector(
      description: "get-vanilla-utf8-query",
      query: [("ሴ", "bar")],
      signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
    ),
    Vector(
      description: "post-header-key-sort",
      method: "POST",
      fields: [("My-Header1", "value1")],
      signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
    ),
    Vector(
      description: "post-header-value-case",
      method: "POST",
      fields: [("My-Header1", "VALUE1")],
      signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
    ),
    Vector(
      description: "post-vanilla",
      method: "POST",
      signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    ),
    Vector(
      description: "post-vanilla-query",
      method: "POST",
      query: [("Param1", "value1")],
      signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
    ),
    Vector(
      description: "post-vanilla-query-nonunreserved",
      method: "POST",
      query: [("@#$%^", ""), ("+", "/,?><`\";:\\|][{}")],
      signature: "66c82657c86e26fb25238d0e69f011edc4c6df5ae71119d7cb98ed9b87393c1e",
    ),
    Vector(
      description: "post-x-www-form-urlencoded",
      method: "POST",
      fields: [("Content-Type", "application/x-www-form-urlencoded")],
      body: "Param1=value1",
      signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    ),
    Vector(
      description: "post-x-www-form-urlencoded-parameters",
      method: "POST",
      fields: [("Content-Type", "application/x-www-form-urlencoded; charset=utf8")],
      body: "Param1=value1",
      signature: "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe",
    ),
  ]

  @Test(arguments: [
    (0, "19700101T000000Z"), (951_868_799, "20000229T235959Z"), (4_107_542_400, "21000301T000000Z"),
    (-1, "19691231T235959Z"), (1_798_761_599, "20261231T235959Z"),
  ])
  func timesAreWrittenAsTheCalendarHasThem(seconds: Int, expected: String) {
    #expect(SignatureV4.timestamp(Date(timeIntervalSince1970: Double(seconds))) == expected)
  }

  @Test(arguments: [false, true])
  func aBodyIsSignedUnlessTLSProtectsIt(signsBodies: Bool) async throws {
    let loader = FakeLoader()
    loader.answer("*", FakeResponse(status: 200))
    let keys = S3Credentials(accessKeyID: "AKID", secretAccessKey: "s", sessionToken: "token")
    var configuration = S3Configuration(region: "eu-west-1", credentials: .fixed(keys))
    configuration.signsBodiesOverTLS = signsBodies
    let object = try #require(ObjectURL(bucket: "photos", key: "a b.jpg"))
    let body = Data("a body".utf8)
    for endpoint in [nil, try HTTPURL("http://127.0.0.1:9000")] {
      configuration.endpoint = endpoint
      let client = try S3Client(configuration, loader: loader)
      try await client.write(object, body, within: .seconds(60))
      _ = try await client.head(object, within: .seconds(60))
    }
    let requests = loader.requests
    #expect(
      requests.map(\.url.string) == [
        "https://photos.s3.eu-west-1.amazonaws.com/a%20b.jpg", "https://photos.s3.eu-west-1.amazonaws.com/a%20b.jpg",
        "http://127.0.0.1:9000/photos/a%20b.jpg", "http://127.0.0.1:9000/photos/a%20b.jpg",
      ]
    )
    let hash = SignatureV4.hash(body)
    #expect(
      requests.map { $0.headers["x-amz-content-sha256"] } == [
        signsBodies ? hash : SignatureV4.unsignedBody, SignatureV4.emptyHash, hash, SignatureV4.emptyHash,
      ]
    )
    #expect(requests.allSatisfy { $0.headers["x-amz-security-token"] == "token" })
    #expect(requests.allSatisfy { $0.headers["Authorization"]?.contains(";x-amz-security-token,") == true })
  }

  @Test
  func noDescriptionOrDumpShowsASecret() {
    let keys = S3Credentials(accessKeyID: "AKID", secretAccessKey: "hush-secret", sessionToken: "hush-token")
    var dumped = ""
    dump(keys, to: &dumped)
    for text in ["\(keys)", String(reflecting: keys), dumped, "\(S3CredentialSource.fixed(keys))"] {
      #expect(!text.contains("hush"))
    }
  }
}

/// A clock that stands still, and never calls anything.
struct FixedClock: TimeSource {
  let now: Date
  let uptime = Duration.zero

  init(_ now: Date) { self.now = now }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    ScheduledAction { true }
  }
}
