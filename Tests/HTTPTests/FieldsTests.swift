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

  @Test
  func aListIsMadeOfPairsAndOfADictionary() {
    let labelled = [(name: "A", value: "1"), (name: "a", value: "2")]
    #expect(HTTPFields(labelled) == ["A": "1", "a": "2"])
    #expect(HTTPFields([("B", "1"), ("A", "2")]) == ["B": "1", "A": "2"])
    #expect(HTTPFields(zip(["B", "A"], ["1", "2"])) == ["B": "1", "A": "2"])
    let dictionary = ["B": "1", "A": "2", "C": "3"]
    #expect(HTTPFields(dictionary) == ["A": "2", "B": "1", "C": "3"])
    #expect(HTTPFields([]).isEmpty)
  }

  @Test
  func fieldsAreAppendedRemovedAndReplacedByName() {
    var fields: HTTPFields = ["A": "1", "B": "2", "a": "3"]
    fields.append(contentsOf: ["a": "4"])
    #expect(fields.values(for: "A") == ["1", "3", "4"])
    fields.replace(with: ["A": "5", "a": "6", "C": "7"])
    #expect(fields == ["B": "2", "A": "5", "a": "6", "C": "7"])
    #expect(fields.remove("a") == ["5", "6"])
    #expect(fields.remove("a").isEmpty)
    #expect(fields == ["B": "2", "C": "7"])
  }
}
