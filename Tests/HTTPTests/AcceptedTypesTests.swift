import Testing
import VitrineHTTP

/// The weights of an `Accept` header.
struct AcceptedTypesTests {
  @Test(arguments: [
    ("image/webp", 1000), ("IMAGE/WEBP ; Q=1.0", 1000), ("image/webp;q=0.3", 300), ("image/webp;q=0.125", 125),
    ("a/b, image/webp; q = 0.05", 50), ("image/webp;level=1;q=0.5", 500), ("image/webp;q=0.5,image/webp;q=0.25", 250),
    ("image/webp;q=0", 0), ("image/webp;q=0.000", 0), ("image/webp;q=1.", 1000),
    // By no grammar, for neither the pipeline nor the server.
    ("image/webp;q=.5", 0), ("image/webp;q=1e0", 0), ("image/webp;q=nan", 0), ("image/webp;q=-1", 0),
    ("image/webp;q=2", 0), ("image/webp;q=0.1234", 0), ("image/webp;q=", 0),
    ("", 0), (";;;,,,q=1", 0), ("image/*,*/*;q=0.8", 0), ("text/html", 0), ("image/webpx", 0),
  ])
  func aTypeHasTheWeightThatItsHeaderGives(header: String, weight: Int) {
    #expect(AcceptedTypes(header).weight(of: "image/webp") == weight)
  }

  @Test
  func aHeaderOfAnyLengthIsReadToItsFirst4096Bytes() {
    let long = String(repeating: "image/x,", count: 511)
    #expect(AcceptedTypes(long + "a/b,c/d," + "image/webp").weight(of: "image/webp") == 0)
    #expect(AcceptedTypes("image/webp," + long + long).weight(of: "image/webp") == 1000)
  }
}
