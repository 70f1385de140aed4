import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// What only URLSession does, or does in its own way.
@Suite(.patient)
struct SessionTests {
  @Test
  func itObeysTheGuardThatItWasMadeWith() {
    let addressGuard = AddressGuard()
    let loader = makeLoader { $0.addressGuard = addressGuard }
    #expect(loader.obeys(addressGuard))
    #expect(!makeLoader().obeys(addressGuard))
  }
}
