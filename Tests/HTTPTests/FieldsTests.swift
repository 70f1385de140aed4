import Testing
import VitrineHTTP

struct FieldsTests {
  @Test
  func namesAreComparedWithoutRegardToCase() {
    let fields: HTTPFields = ["Content-Type": "a", "ETAG": "b"]
    #expect(fields["content-type"] == "a")
    #expect(fields["ETag"] == "b")
    #expect(fields["ETa"] == nil)
    // These differ in the bit that tells upper from lower case, and are no letters.
    #expect((["a^": "1"] as HTTPFields)["a~"] == nil)
  }

  @Test
  func repeatedFieldsAreKeptInOrder() {
    var fields: HTTPFields = ["A": "1", "B": "2", "a": "3"]
    #expect(fields["a"] == "1, 3")
    #expect(fields.values(for: "A") == ["1", "3"])
    #expect(fields.map(\.name) == ["A", "B", "a"])
    fields["A"] = "4"
    #expect(fields.map(\.value) == ["2", "4"])
    fields["b"] = nil
    #expect(fields.count == 1)
  }
}
