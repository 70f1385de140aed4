import Testing
import VitrineRuntime

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
  func secretsAreNotPrinted() throws {
    let settings = try Settings(environment: [
      "VITRINE_KEY": "943b421c9eb07c83", "VITRINE_SALT": "520f986b998545b4", "VITRINE_PURGE_TOKEN": "hush",
    ])
    #expect(settings.configuration.urls.keys.count == 1)
    for secret in ["943b421c9eb07c83", "520f986b998545b4", "hush"] { #expect(!settings.text.contains(secret)) }
  }
}
