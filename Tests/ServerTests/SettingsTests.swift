import Testing
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineServing

@Suite
struct SettingsTests {
  @Test
  func theEnvironmentPrecedesTheFile() throws {
    let file = """
      # A comment
      VITRINE_PORT=9000

      VITRINE_LOCAL_ROOT = "/srv/my uploads"
      VITRINE_MAX_TTL=12h
      """
    let settings = try Settings(environment: ["VITRINE_PORT": "9001", "HOME": "/"], file: file)
    #expect(settings.configuration.port == 9001)
    #expect(settings.configuration.localRoot == "/srv/my uploads")
    #expect(settings.configuration.maxAge == .seconds(43_200))
  }

  @Test
  func whatIsPrintedIsReadAgain() throws {
    let settings = try Settings(environment: [
      "VITRINE_PRESETS": "small=rs:fit:100:100;large=rs:fit:900:900/q:80", "VITRINE_ALLOWED_SOURCES": "*.example.net",
      "VITRINE_SANDBOX": "none", "VITRINE_MEMORY": "1G", "VITRINE_HEAD_TIMEOUT": "1.5", "VITRINE_DAMAGED": "error",
    ])
    let again = try Settings(environment: [:], file: settings.text)
    #expect(again.text == settings.text)
    #expect(!again.configuration.showsDamaged && ThumbnailServer.Configuration().showsDamaged)
  }

  @Test(arguments: [
    ("VITRINE_PROT", "1", "VITRINE_PROT is not a setting"), ("VITRINE_PORT", "70000", "VITRINE_PORT: "),
    ("VITRINE_KEY", "xy", "hexadecimal"), ("VITRINE_SANDBOX", "some", "VITRINE_SANDBOX: "),
    ("VITRINE_DAMAGED", "maybe", "VITRINE_DAMAGED: "),
    ("VITRINE_MIN_TTL", "soon", "VITRINE_MIN_TTL: "), ("VITRINE_CACHE_BYTES", "1K", "VITRINE_CACHE_BYTES: "),
    ("VITRINE_ALLOWED_NETWORKS", "10.0.0.0/99", "VITRINE_ALLOWED_NETWORKS: "),
  ])
  func aWrongSettingIsNamed(_ name: String, _ value: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try Settings(environment: [name: value]) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test
  func proxiesAreHeededIfThatIsSet() throws {
    #expect(try Settings(environment: [:]).configuration.addressGuard?.trustsProxy == false)
    #expect(try Settings(environment: ["VITRINE_PROXY": "on"]).configuration.addressGuard?.trustsProxy == true)
    let error = #expect(throws: ConfigurationError.self) {
      try Settings(environment: ["VITRINE_PROXY": "on", "VITRINE_ADDRESS_GUARD": "off"])
    }
    #expect(error?.description == "VITRINE_PROXY: it needs VITRINE_ADDRESS_GUARD=on")
  }

  @Test(arguments: [
    ("unix:/run/a.sock", "unix:/run/a.sock", nil), ("unix:a.sock", "", "has no absolute path"), ("*", "", nil),
  ])
  func socketsThatAreFilesHavePaths(_ value: String, _ host: String, _ message: String?) {
    if let message {
      let error = #expect(throws: ConfigurationError.self) { try Settings(environment: ["VITRINE_BIND": value]) }
      #expect(error?.description.contains(message) == true)
    } else {
      #expect((try? Settings(environment: ["VITRINE_BIND": value]))?.configuration.host == host)
    }
  }

  @Test
  func secretsAreNotPrinted() throws {
    let settings = try Settings(environment: [
      "VITRINE_KEY": "943b421c9eb07c83", "VITRINE_SALT": "520f986b998545b4", "VITRINE_PURGE_TOKEN": "hush",
    ])
    #expect(settings.configuration.urls.keys.count == 1)
    for secret in ["943b421c9eb07c83", "520f986b998545b4", "hush"] { #expect(!settings.text.contains(secret)) }
  }
}

/// Variables of imgproxy are understood where they mean the same.
@Suite
struct ImgproxyVariableTests {
  @Test
  func variablesOfTheSameMeaningAreSettings() throws {
    let settings = try Settings(environment: [
      "IMGPROXY_KEY": "943b421c9eb07c83", "IMGPROXY_SALT": "520f986b998545b4", "IMGPROXY_BIND": ":9000",
      "IMGPROXY_PRESETS": "small=rs:fit:100:100,large=rs:fit:900:900", "IMGPROXY_MAX_SRC_RESOLUTION": "16.8",
      "IMGPROXY_TTL": "3600", "IMGPROXY_QUALITY": "70", "IMGPROXY_FORMAT_QUALITY": "avif=50",
      "IMGPROXY_AUTO_AVIF": "true", "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "1", "IMGPROXY_TIMEOUT": "20",
    ])
    let configuration = settings.configuration
    #expect(configuration.urls.keys.count == 1 && configuration.host == "" && configuration.port == 9000)
    #expect(configuration.urls.presets == ["small": "rs:fit:100:100", "large": "rs:fit:900:900"])
    #expect(configuration.maxSourcePixels == 16_800_000 && configuration.requestTime == .seconds(20))
    #expect(configuration.minAge == .seconds(3600) && configuration.maxAge == .seconds(3600))
    #expect(configuration.urls.defaults.formatQualities["avif"] == 50)
    #expect(configuration.urls.defaults.formatQualities["webp"] == 70)
    #expect(configuration.negotiation.formats == [.avif])
    #expect(configuration.addressGuard?.allowed.count == 2)
    #expect(settings.foreignNotes.isEmpty)
  }

  @Test
  func theLongestSideOfAResultShrinksHereToo() throws {
    let settings = try Settings(environment: ["IMGPROXY_MAX_RESULT_DIMENSION": "2000"])
    #expect(settings.configuration.urls.maxResultSide == 2000)
    #expect(settings.configuration.urls.maxSide == ThumbnailURLs.Configuration().maxSide)
    #expect(try Settings(environment: ["IMGPROXY_MAX_RESULT_DIMENSION": "0"]).configuration.urls.maxResultSide == 0)
  }

  @Test
  func aSettingOfVitrinesPrecedes() throws {
    let settings = try Settings(environment: ["IMGPROXY_BIND": "10.0.0.1:9000", "VITRINE_PORT": "9001"])
    #expect(settings.configuration.port == 9001 && settings.configuration.host == "10.0.0.1")
  }

  @Test
  func whatHasNoEffectIsNamed() throws {
    let settings = try Settings(environment: [
      "IMGPROXY_PNG_QUANTIZE": "true", "IMGPROXY_AUTO_ROTATE": "true", "IMGPROXY_SOMETHING": "1",
      "IMGPROXY_LOG_LEVEL": "",
    ])
    #expect(settings.foreignNotes.count == 2)
    #expect(settings.warnings.contains { $0.contains("IMGPROXY_SOMETHING is not known here") })
    #expect(settings.warnings.contains { $0.contains("IMGPROXY_PNG_QUANTIZE has no effect") })
  }

  /// Without these the server would answer requests that the other one refuses.
  @Test(arguments: ["SECRET", "ALLOWED_PROCESSING_OPTIONS"])
  func aBoundThatIsNotKeptKeepsItFromStarting(name: String) {
    let error = #expect(throws: ConfigurationError.self) { try Settings(environment: ["IMGPROXY_\(name)": "x"]) }
    #expect(error?.description.hasPrefix("IMGPROXY_\(name) is not supported: ") == true)
  }

  @Test
  func aWrongValueIsNamed() {
    let error = #expect(throws: ConfigurationError.self) { try Settings(environment: ["IMGPROXY_BIND": "9000"]) }
    #expect(error?.description == "IMGPROXY_BIND: '9000' has no port")
  }

  @Test
  func theTranslationIsAFileOfSettings() throws {
    let text = try Settings.translation(of: [
      "IMGPROXY_KEY": "943b421c9eb07c83", "IMGPROXY_USE_ABS": "true", "HOME": "/",
    ])
    #expect(
      text == "VITRINE_KEY=943b421c9eb07c83\n# IMGPROXY_USE_ABS has no effect: Azure and Swift are not supported\n"
    )
    #expect(try Settings(environment: [:], file: text).configuration.urls.keys.count == 1)
  }

  @Test
  func thePageHasTheTables() throws {
    let page = Repository.folder.appending(path: "Sources/Server/VitrineServing.docc/FromImgproxy.md")
    let text = try String(decoding: Data(contentsOf: page), as: UTF8.self)
    let start = try #require(text.firstRange(of: "### Variables")?.lowerBound)
    let tables =
      Self.table("Variables", ImgproxyVariables.documentation) + Self.table("Options", ThumbnailURLs.comparison)
    // `VITRINE_WRITE_TABLES=1 swift test --filter thePageHasTheTables` writes them anew.
    if ProcessInfo.processInfo.environment["VITRINE_WRITE_TABLES"] != nil {
      try Data("\(text[..<start])\(tables)".utf8).write(to: page)
    }
    #expect(text[start...] == tables)
  }

  private static func table(_ title: String, _ content: (counts: [String: Int], rows: [String])) -> String {
    let counts = ["same", "different", "refused"].map { "\(content.counts[$0] ?? 0) \($0)" }
    let rows = content.rows.joined(separator: "\n")
    let end = title == "Options" ? "" : "\n"
    return "### \(title)\n\n\(counts.joined(separator: ", ")).\n\n| imgproxy | | here |\n|---|---|---|\n\(rows)\n\(end)"
  }

  /// The settings of some variables, without the prefixes; `nil` if they are not valid.
  private func translated(_ variables: [String: String]) -> [String: String]? {
    let environment = Dictionary(uniqueKeysWithValues: variables.map { ("IMGPROXY_\($0)", $1) })
    guard let values = try? ImgproxyVariables(environment).values else { return nil }
    return Dictionary(uniqueKeysWithValues: values.map { (String($0.dropFirst("VITRINE_".count)), $1) })
  }

  @Test(arguments: [
    ("https://a.example/,https://*.b.example/", ["ALLOWED_SOURCES": "https://a.example/,https://*.b.example/"]),
    ("s3://,https://a.example/,local://", ["ALLOWED_SOURCES": "https://a.example/"]),
    ("local://", ["REMOTE": "off"]),
    ("s3://one,gs://two/", ["REMOTE": "off", "S3_BUCKETS": "one,two"]),
    ("s3://one/part/", nil), ("local:///part", nil),
  ])
  func aListOfAllowedSourcesIsDivided(list: String, expected: [String: String]?) {
    #expect(translated(["ALLOWED_SOURCES": list]) == expected)
  }

  @Test
  func aFolderIsServedOnlyIfTheListNamesLocalFiles() {
    let root = ["LOCAL_FILESYSTEM_ROOT": "/srv"]
    #expect(translated(root) == ["LOCAL_ROOT": "/srv"])
    let both = translated(root.merging(["ALLOWED_SOURCES": "local://"]) { $1 })
    #expect(both == ["LOCAL_ROOT": "/srv", "REMOTE": "off"])
    let urls = translated(root.merging(["ALLOWED_SOURCES": "https://a.example/"]) { $1 })
    #expect(urls == ["ALLOWED_SOURCES": "https://a.example/"])
  }

  @Test
  func anImageForErrorsIsNoErrorUnlessItsStatusSaysSo() {
    let path = ["FALLBACK_IMAGE_PATH": "/e.png", "FALLBACK_IMAGE_TTL": "0"]
    #expect(translated(path) == ["PLACEHOLDER": "/e.png", "PLACEHOLDER_STATUS": "200"])
    let code = translated(["FALLBACK_IMAGE_URL": "https://e.invalid/e.png", "FALLBACK_IMAGE_HTTP_CODE": "404"])
    #expect(code == ["PLACEHOLDER": "https://e.invalid/e.png", "PLACEHOLDER_STATUS": "404"])
    #expect(translated(["FALLBACK_IMAGE_TTL": "9"]) == ["PLACEHOLDER_TTL": "9s"])
  }

  @Test(arguments: ["0", "200", "404", "503"])
  func aStatusOfAnAnswerWithAnImageIsTaken(value: String) throws {
    let settings = try Settings(environment: ["VITRINE_PLACEHOLDER_STATUS": value])
    #expect(settings.configuration.placeholderStatus == (value == "0" ? nil : Int(value)))
  }

  @Test(arguments: ["99", "199", "204", "304", "600", "x"])
  func aStatusOfAnAnswerWithoutOneIsAnError(value: String) {
    #expect(throws: ConfigurationError.self) { try Settings(environment: ["VITRINE_PLACEHOLDER_STATUS": value]) }
  }

  @Test
  func aKeyOfSourcesIsHiddenAndWithoutSignaturesWarnedOf() throws {
    let key = String(repeating: "5a", count: 32)
    let settings = try Settings(environment: ["VITRINE_SOURCE_KEY": key])
    #expect(settings.warnings.contains { $0.contains("encrypted sources") })
    #expect(settings.text.contains("VITRINE_SOURCE_KEY=(hidden)") && !settings.text.contains(key))
    let error = #expect(throws: ConfigurationError.self) { try Settings(environment: ["VITRINE_SOURCE_KEY": "5a5"]) }
    #expect(error?.description == "VITRINE_SOURCE_KEY: a key of sources takes 32, 48 or 64 hexadecimal digits")
  }

  @Test(arguments: ["VITRINE_ALLOWED_PORTS", "VITRINE_ALLOWED_NETWORKS"])
  func aRuleOfAGuardThatIsOffIsAnError(name: String) {
    let values = ["VITRINE_ADDRESS_GUARD": "off", name: name.hasSuffix("PORTS") ? "80" : "10.0.0.0/8"]
    let error = #expect(throws: ConfigurationError.self) { try Settings(environment: values) }
    #expect(error?.description == "\(name): it needs VITRINE_ADDRESS_GUARD=on")
  }

  @Test(arguments: ["", "  ", "127.0.0.1:8080", ":8080", "[::1]:8080", "[::1]"])
  func whatIsNotAnAddressAloneIsAnError(value: String) {
    let error = #expect(throws: ConfigurationError.self) { try Settings(environment: ["VITRINE_BIND": value]) }
    #expect(error?.description.hasPrefix("VITRINE_BIND: ") == true)
    #expect(!value.contains(":") || error?.description.contains("VITRINE_PORT") == true)
  }

  @Test(arguments: [
    ("", ""), ("/", ""), ("/images/", "/images"), ("/a/b", "/a/b"), ("images", nil), ("/a?b", nil), ("/ä", nil),
  ])
  func aPrefixOfPathsBeginsWithASlash(value: String, expected: String?) throws {
    let settings = try? Settings(environment: ["VITRINE_PATH_PREFIX": value])
    #expect(settings?.configuration.urls.pathPrefix == expected)
  }

  @Test(arguments: ["*", "127.0.0.1", "::1", "localhost", "fe80::1%lo"])
  func anAddressIsTaken(value: String) throws {
    let settings = try Settings(environment: ["VITRINE_BIND": value])
    #expect(settings.configuration.host == (value == "*" ? "" : value))
  }
}
