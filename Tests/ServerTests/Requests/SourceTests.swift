import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineServingRequests

/// What may be loaded.
@Suite
struct SourceTests {
  /// Rules with prefixes.
  private func rules(_ prefixes: String...) throws -> SourceRules {
    var rules = SourceRules()
    for prefix in prefixes { rules.prefixes.append(try SourcePrefix(prefix)) }
    return rules
  }

  private func status(_ text: String, _ rules: SourceRules) -> Int? {
    do throws(RequestError) {
      _ = try rules.source(text)
      return nil
    } catch {
      return error.status
    }
  }

  @Test(arguments: [
    ("photos://=https://example.org/a/", "photos://b.jpg", "https://example.org/a/b.jpg"),
    ("photos://=https://example.org/a/", "xphotos://b.jpg", nil),
    ("https://*.old.org/=https://new.org/", "https://a.b.old.org/c.jpg", "https://new.org/c.jpg"),
    ("https://*.old.org/=https://new.org/", "https://a/.old.org/c.jpg", "https://a/.old.org/c.jpg"),
    ("https://*/*/=https://new.org/", "https://a.org/b/c/d.jpg", "https://new.org/c/d.jpg"),
    ("h*=https://new.org/?=", "https://a", "https://new.org/?=//a"),
    ("**=https://new.org/", "a", "https://new.org/"),
    ("mine://*/=https://new.org/${1}/images/", "mine://items/a.jpg", "https://new.org/items/images/a.jpg"),
    ("*-*.*/=https://new.org/${3}/${2}/${1}/", "a-b-c.d/e", "https://new.org/d/c/a-b/e"),
    ("*a*/=https://new.org/${2}.${3}/", "ba${1}/e", "https://new.org/$%7B1%7D./e"),
    ("*a*/=https://new.org/${1}.${2}/", "${2}a-/e", "https://new.org/$%7B2%7D.-/e"),
  ])
  func theBeginningOfASourceIsReplaced(rule: String, source: String, expected: String?) throws {
    var rules = SourceRules()
    rules.replacements = [try SourceReplacement(rule)]
    guard let expected else { return #expect(status(source, rules) == 400) }
    #expect(try rules.source(source) == .url(expected))
    // The other rules are for the result.
    rules.prefixes = [try SourcePrefix("https://other.example/")]
    #expect(status(source, rules) == 403)
  }

  @Test(arguments: ["", "a", "=b"])
  func whatIsNoReplacementIsAnError(text: String) {
    #expect(throws: ConfigurationError.self) { try SourceReplacement(text) }
  }

  @Test
  func objectsOfGoogleAreReadLikeAmazonsAndOtherCloudsAreNamed() throws {
    var rules = SourceRules()
    rules.buckets = ["photos"]
    #expect(try rules.source("gs://photos/a b/cat.jpg") == rules.source("s3://photos/a b/cat.jpg"))
    #expect(status("gs://others/cat.jpg", rules) == 403)
    #expect(status("gs://photos", rules) == 400)
    rules.base = "gs://photos/"
    #expect(try rules.source("cat.jpg") == rules.source("s3://photos/cat.jpg"))
    for (source, name) in [("abs://photos/cat.jpg", "Azure"), ("swift://account/photos/cat.jpg", "Swift")] {
      let error = #expect(throws: RequestError.self) { try rules.source(source) }
      #expect(error?.text == "sources in \(name) are not supported; use the https URL of the object")
    }
  }

  @Test
  func manyStarsTakeNoTime() throws {
    var rules = SourceRules()
    rules.replacements = [try SourceReplacement(String(repeating: "*a", count: 40) + "=b")]
    #expect(status(String(repeating: "a", count: 8_000), rules) != nil)
  }

  @Test(arguments: [
    "https://images.example.org/uploads/cat.jpg",
    "HTTPS://IMAGES.EXAMPLE.ORG/uploads/cat.jpg",
    "https://images.example.org./uploads/cat.jpg",
    "https://images.example.org:443/uploads/cat.jpg",
    "https://images.ex%61mple.org/uploads/cat.jpg",
    "https://images.example.org/%75ploads/cat.jpg",
    "https://images.example.org/other/../uploads/cat.jpg",
    "https://images.example.org/uploads",
    "https://images.example.org/uploads?x=/../",
  ])
  func aPrefixIsComparedByItsMeaning(url: String) throws {
    #expect(status(url, try rules("https://images.example.org/uploads")) == nil)
    #expect(status(url, try rules("https://images.example.org/uploads/")) == nil)
    #expect(status(url, try rules("images.example.org")) == nil)
    #expect(status(url, try rules("https://other.example.org/", "*.example.org")) == nil)
  }

  @Test(arguments: [
    "http://images.example.org/uploads/cat.jpg",
    "https://images.example.org:8443/uploads/cat.jpg",
    "https://images.example.org.evil.invalid/uploads/cat.jpg",
    "https://images.example.org@evil.invalid/uploads/cat.jpg",
    "https://evil.invalid/https://images.example.org/uploads/cat.jpg",
    "https://evil.invalid#https://images.example.org/uploads/",
    "https://evil.invalid?https://images.example.org/uploads/",
    "https://evil.invalid\\@images.example.org/uploads/",
    "https://images.example.org\\.evil.invalid/uploads/",
    "https://images.example.orgevil/uploads/cat.jpg",
    "https://notimages.example.org/uploads/cat.jpg",
    "https://images.example.org/uploads2/cat.jpg",
    "https://images.example.org/Uploads/cat.jpg",
    "https://images.example.org/uploads/../secret.jpg",
    "https://images.example.org/uploads/%2e%2e/secret.jpg",
    "https://images.example.org/uploads/..%2fsecret.jpg",
    "https://images.example.org/uploads/..%5csecret.jpg",
    "https://images.example.org/uploads/..\\secret.jpg",
    "https://images.example.org/uploads/%252e%252e/secret.jpg",
    "https://images.example.org/uploads/..%252fsecret.jpg",
    "https://images.example.org/uploads%2fcat.jpg",
    "https://images.example.org//uploads/cat.jpg",
    "https://example.org/uploads/cat.jpg",
    "//images.example.org/uploads/cat.jpg",
    "https:images.example.org/uploads/cat.jpg",
    "https:///images.example.org/uploads/cat.jpg",
    "https://images.example.org\n/uploads/cat.jpg",
    "https://images.example.org%00.evil.invalid/uploads/cat.jpg",
    "https://images。example。org。evil。invalid/uploads/cat.jpg",
  ])
  func whatOnlyLooksLikeAPrefixIsRefused(url: String) throws {
    let rules = try rules("https://images.example.org/uploads")
    #expect([400, 403].contains(status(url, rules)))
  }

  @Test
  func aStarIsForWholeLabels() throws {
    let rules = try rules("https://*.example.org/")
    #expect(status("https://a.example.org/", rules) == nil)
    #expect(status("https://a.b.example.org/", rules) == nil)
    #expect(status("https://example.org/", rules) == 403)
    #expect(status("https://evilexample.org/", rules) == 403)
    #expect(status("https://a.example.org.evil.invalid/", rules) == 403)
  }

  @Test(arguments: [
    "", "https://", "https://a*.example.org/", "https://*.*.example.org/", "https://*", "https://*.10.0.0.1/",
    "ftp://example.org", "https://user@example.org/", "https://example.org/?a=", "https://example.org/#a",
    "https://example.org/%2f", "https://exa mple.org/",
  ])
  func aPrefixThatIsNoneIsAnErrorAtTheStart(text: String) {
    #expect(throws: ConfigurationError.self) { try SourcePrefix(text) }
  }

  /// Loopback, private, link-local and metadata addresses, as many ways as they can be written.
  @Test(arguments: [
    "127.0.0.1", "127.1", "127.0.1", "0177.0.0.1", "0x7f.0.0.1", "0x7f.1", "2130706433", "0x7f000001", "017700000001",
    "127.0.0.1.", "%31%32%37.0.0.1", "127。0。0。1", "0.0.0.0", "0", "[::1]", "[::]",
    "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]", "[::ffff:0:127.0.0.1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "10.0.0.1", "10.1",
    "172.16.0.1", "192.168.1.1", "192.168.257", "3232235777", "169.254.169.254", "169.254.43518", "0xa9fea9fe",
    "2852039166", "0251.0376.0251.0376", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "100.100.100.200",
    "168.63.129.16", "224.0.0.1", "255.255.255.255", "[ff02::1]",
  ])
  func noSpellingOfAPrivateAddressIsAllowed(host: String) {
    for url in ["http://\(host)/", "https://\(host)/a.jpg", "HTTP://\(host.uppercased()):80/"] {
      #expect([400, 403].contains(status(url, SourceRules())), "\(url)")
    }
  }

  @Test
  func portsAndRefusedHostsAreRefused() {
    var rules = SourceRules()
    rules.refusedHosts = ["inner.example"]
    #expect(status("http://example.org:22/", rules) == 403)
    #expect(status("http://INNER.example./", rules) == 403)
    #expect(status("http://outer.example/", rules) == nil)
    rules.addressGuard = nil
    #expect(status("http://example.org:8080/", rules) == nil)
    #expect(status("http://127.0.0.1/", rules) == nil)
    rules.allowsURLs = false
    #expect(status("http://outer.example/", rules) == 403)
  }

  @Test(arguments: [
    ("local:///a.jpg", "a.jpg"), ("local://a.jpg", "a.jpg"), ("local:///2026/11/a b.jpg", "2026/11/a b.jpg"),
    ("local:///...", "..."), ("local:///.hidden", ".hidden"), ("local:///%2e%2e/x", "%2e%2e/x"),
    ("local:///a\\b", "a\\b"), ("local:///é\u{301}", "é\u{301}"),
  ])
  func filesAreNamedByPathsBelowTheRoot(text: String, path: String) throws {
    var rules = SourceRules()
    rules.allowsLocalFiles = true
    #expect(try rules.source(text) == .localFile(path))
  }

  @Test(arguments: [
    "local:///", "local://", "local:////etc/passwd", "local:///../etc/passwd", "local:///a/../../etc/passwd",
    "local:///a/..", "local:///..", "local:///.", "local:///a/./b", "local:///a//b", "local:///a/",
    "local:///a\u{0}.jpg",
    "local:///a\n.jpg", "local:///\u{7F}", "local:///" + String(repeating: "a", count: 256),
    "local:///" + String(repeating: "a/", count: 2100) + "a",
  ])
  func noPathLeadsOutOfTheRoot(text: String) {
    var rules = SourceRules()
    rules.allowsLocalFiles = true
    #expect(status(text, rules) == 400)
  }

  /// Steps upwards in URLs, encoded once and several times.
  @Test(arguments: [
    "plain/local:///../etc/passwd", "plain/local:///%2e%2e/etc/passwd", "plain/local:///..%2fetc%2fpasswd",
    "plain/local:///%2E%2E%2Fetc%2Fpasswd", "plain/local:///a%2f..%2f..%2fetc%2fpasswd",
    "plain/local:%2f%2f%2f..%2fetc",
    "plain/local:///a%00.jpg", "plain/local:/../etc/passwd", "plain/local:///./a", "plain/local:////etc/passwd",
    // local:///../etc/passwd
    "bG9jYWw6Ly8vLi4vZXRjL3Bhc3N3ZA", "plain/file:///etc/passwd", "plain/LOCAL:///a",
  ])
  func noURLLeadsOutOfTheRoot(path: String) throws {
    let urls = try ThumbnailURLs { $0.sources.allowsLocalFiles = true }
    #expect(urls.refusal(of: "/_/\(path)")?.status == 400)
  }

  @Test
  func anEscapeOfAnEscapeIsTheNameOfAFile() throws {
    let urls = try ThumbnailURLs { $0.sources.allowsLocalFiles = true }
    let request = try urls.request(path: "/_/plain/local:///%252e%252e%252fa.jpg")
    #expect(request.source == .localFile("%2e%2e%2fa.jpg"))
  }

  @Test
  func aBasePrecedesWhatHasNoScheme() throws {
    var rules = try rules("https://images.example.org/")
    rules.base = "https://images.example.org/uploads/"
    #expect(try rules.source("cat.jpg") == .url("https://images.example.org/uploads/cat.jpg"))
    #expect(try rules.source("https://images.example.org/x") == .url("https://images.example.org/x"))
    #expect(status("https://evil.invalid/", rules) == 403)
    rules.base = "local:///photos/"
    rules.allowsLocalFiles = true
    #expect(try rules.source("cat.jpg") == .localFile("photos/cat.jpg"))
    #expect(status("../cat.jpg", rules) == 400)
  }

  @Test
  func objectsOfNamedBucketsAreSources() throws {
    var rules = SourceRules()
    #expect(status("s3://photos/cat.jpg", rules) == 403)
    rules.buckets = ["photos"]
    for key in ["cat.jpg", "a b+c/../é?#.png"] {
      guard case .url(let url) = try rules.source("s3://photos/\(key)") else { return #expect(Bool(false)) }
      #expect(ObjectURL(standIn: url)?.text == "s3://photos/\(key)")
    }
    #expect(status("s3://secrets/cat.jpg", rules) == 403)
    #expect(status("s3://photos", rules) == 400)
    #expect(status("s3://photos/", rules) == 400)
    // What stands in for an object within the program is no URL of a client's.
    for url in ["https://s3.vitrine.invalid/photos?cat.jpg", "http://S3.vitrine.invalid./photos?cat.jpg"] {
      #expect(status(url, rules) == 403)
    }
    rules.base = "s3://photos/uploads/"
    #expect(try rules.source("cat.jpg") == .url(#require(ObjectURL("s3://photos/uploads/cat.jpg")).standIn.string))
    rules.base = "s3://secrets/"
    #expect(status("cat.jpg", rules) == 403)
  }
}
