import Testing
import VitrineRuntime

@testable import VitrineServing

@Suite
struct ClientNameTests {
  @Test(arguments: [
    ("192.0.2.7", "192.0.2.7"),
    ("::ffff:192.0.2.7", "192.0.2.7"),
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
    ("2001:db8:1:2::", "2001:db8:1:2::/64"),
    ("::1", "0:0:0:0::/64"),
    ("unknown", "unknown"),
    ("2001:db8::1%eth0", "2001:db8::1%eth0"),
    ("[2001:db8::1]:443", "2001:db8:0:0::/64"),
    ("192.0.2.7:443", "192.0.2.7"),
    ("", ""),
  ])
  func addressesOfOneNetworkAreOneClient(address: String, name: String) {
    #expect(ClientName.of(address).readable == name)
  }
}

extension ClientNameTests {
  /// Names that are equal as text are two clients.
  @Test
  func whatIsNoAddressIsComparedAsBytes() {
    for (one, other) in [("caf\u{E9}", "cafe\u{301}"), ("K", "\u{212A}"), ("a;b", "a\u{37E}b")] {
      #expect(ClientName.of(one) != ClientName.of(other))
    }
  }
}
