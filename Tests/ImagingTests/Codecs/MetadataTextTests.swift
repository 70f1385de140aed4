import Testing
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineImaging

/// All fields of the metadata as text.
struct MetadataTextTests {
  private static func texts(_ exif: Data?, _ xmp: String? = nil) -> [String: String] {
    var metadata = ImageMetadata()
    (metadata.exif, metadata.xmp) = (exif, xmp.map { Data($0.utf8) })
    return Dictionary(metadata.texts.map { ($0.name, $0.text) }) { first, _ in first }
  }

  @Test(arguments: [false, true])
  func fieldsOfEXIFHaveTheirNamesAndNoPlace(isLittleEndian: Bool) {
    var file = EXIFFile()
    file.isLittleEndian = isLittleEndian
    file.main = [file.text(0x010F, "Maker"), file.short(0x0112, 6), file.text(0x010E, "A harbour")]
    file.exif = [
      file.rational(0x829A, (1, 250)), file.rational(0x9204, (1, 3)), file.short(0x9207, 5),
      (0x927C, 7, 12, [UInt8](repeating: 65, count: 12)),
    ]
    file.gps = [file.text(1, "N"), file.rational(2, (52, 1), (30, 1), (0, 1))]
    let texts = Self.texts(file.data)
    #expect(texts["Make"] == "Maker" && texts["Orientation"] == "6" && texts["ImageDescription"] == "A harbour")
    #expect(texts["ExposureTime"] == "0.004" && texts["ExposureBiasValue"] == "0.3333" && texts["MeteringMode"] == "5")
    #expect(texts.count == 6)
  }

  @Test
  func propertiesOfXMPAreListedByName() {
    let texts = Self.texts(
      nil,
      """
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
      <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
       xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:own="http://own.invalid/" xmp:Rating="4" exif:GPSLatitude="52,30N" own:Mood="calm">
      <dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li>night</rdf:li></rdf:Bag></dc:subject>
      </rdf:Description></rdf:RDF></x:xmpmeta>
      """,
    )
    #expect(texts == ["xmp:Rating": "4", "Mood": "calm", "dc:subject": "sea; night"])
  }

  @Test
  func damagedMetadataHasNoTexts() {
    #expect(Self.texts(Data("II*\\0".utf8), "<x:xmpmeta").isEmpty)
    #expect(Self.texts(nil).isEmpty)
  }
}
