import Testing
import VitrineCaching
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport

@testable import VitrineS3

/// Entries as objects, and answers of servers as XML.
@Suite
struct FormatTests {
  @Test(arguments: [0, 1, 1000, 1250, 1300, 1400, 5000])
  func anEntryIsReadAsItWasWritten(metadataCount: Int) throws {
    let key = key("url", "https://a.invalid/1")
    for (expires, isNameCut) in [(exampleDay, false), (Date?.none, true)] {
      let written = entry(bytes(500), metadata: bytes(metadataCount, seed: 2), expires: expires)
      let (head, preface) = EntryHead.make(written, key, isNameCut: isNameCut)
      // S3 allows 2 KB of names and values; the name counts without its prefix.
      #expect(head.encoded.utf8.count + 7 <= 2048)
      let read = try #require(EntryHead(encoded: head.encoded))
      #expect(read == head)
      #expect(read.open(object: preface + written.data) == written)
      let opened = try #require(read.open(preface: preface))
      #expect(opened.metadata == written.metadata && opened.key == (isNameCut ? key : nil))
    }
  }

  @Test
  func noChangedByteOfAnObjectIsReturned() throws {
    let key = key("url", "https://a.invalid/1")
    for metadataCount in [20, 3000] {
      let written = entry(bytes(300), metadata: bytes(metadataCount, seed: 2))
      let (head, preface) = EntryHead.make(written, key, isNameCut: false)
      let object = preface + written.data
      for index in object.indices {
        var changed = object
        changed[index] ^= 1
        #expect(head.open(object: changed) == nil)
      }
      for count in [0, 1, object.count - 1] { #expect(head.open(object: object.prefix(count)) == nil) }
      #expect(head.open(object: object + [0]) == nil)
      let field = try #require(Data(base64Encoded: head.encoded))
      for index in field.indices {
        var changed = field
        changed[index] ^= 0x40
        #expect(EntryHead(encoded: changed.base64EncodedString()) == nil)
        #expect(EntryHead(encoded: field.prefix(index).base64EncodedString()) == nil)
      }
    }
  }

  @Test
  func theHeadOfAnotherKeysObjectIsDamage() throws {
    let (head, _) = EntryHead.make(entry(bytes(10)), key("one"), isNameCut: false)
    let response = HTTPResponse(
      status: 200,
      headers: [EntryHead.field: head.encoded],
      url: try HTTPURL("http://a.invalid/"),
    )
    guard case .head = FoundHead(response, for: EntryHead.hash(of: key("one"))) else { return #expect(Bool(false)) }
    guard case .damaged = FoundHead(response, for: EntryHead.hash(of: key("two"))) else { return #expect(Bool(false)) }
  }

  // MARK: XML

  private func elements(_ text: String) throws -> [String] {
    var reader = XMLReader(Data(text.utf8))
    var elements: [String] = []
    while let element = try reader.next() { elements.append(element.path.joined(separator: "/") + "=" + element.text) }
    return elements
  }

  @Test
  func elementsWithTextAreRead() throws {
    let text = """
      \u{FEFF}<?xml version="1.0"?>
      <!-- a comment with <tags> -->
      <a:Root xmlns:a="urn:x"><One>1 &lt; 2 &amp;&#x41;&#66;</One><Two kind="x"/><Three><Four> </Four></Three>
      <Five><![CDATA[<raw>]]></Five></a:Root>
      """
    #expect(
      try elements(text) == ["Root/One=1 < 2 &AB", "Root/Two=", "Root/Three/Four= ", "Root/Five=<raw>"]
    )
  }

  @Test(arguments: [
    "", "text", "<a>", "<a></b>", "</a>", "<a/><b/>", "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "<a>&unknown;</a>",
    "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>& b</a>", "<a", "<a><![CDATA[x</a>", "<a>\u{0}</a", "<>x</>", "<a><!-- </a>",
    String(repeating: "<a>", count: 17) + String(repeating: "</a>", count: 17),
    "<\(String(repeating: "n", count: 129))/>",
  ])
  func whatServersDoNotWriteIsRefused(text: String) {
    #expect(throws: XMLReader.Failure.self) { try elements(text) }
  }

  @Test
  func randomBytesAreNeverMoreThanAnError() {
    let alphabet = Array("<>/!?[]-&;#xCDATA a=\"\n\u{7f}é".utf8)
    for seed in 0..<300 {
      let text = bytes(200, seed: UInt64(seed)).map { alphabet[Int($0) % alphabet.count] }
      var reader = XMLReader(Data("<a>".utf8) + Data(text))
      var count = 0
      while (try? reader.next()) ?? nil != nil { count += 1 }
      #expect(count <= 200)
      _ = S3ErrorDocument(Data(text))
    }
  }

  @Test
  func aListIsRead() throws {
    let text = """
      <ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
      <Contents><Key>a+b%2Bc%26</Key><Size>12</Size></Contents><Contents><Key>d</Key><Size>3</Size></Contents>
      <CommonPrefixes><Prefix>x</Prefix></CommonPrefixes><NextContinuationToken>t&amp;</NextContinuationToken>
      </ListBucketResult>
      """
    let page = try S3Page(Data(text.utf8))
    #expect(page.objects.map(\.key) == ["a b+c&", "d"])
    #expect(page.objects.first?.size == 12)
    #expect(page.next == "t&")
  }

  @Test
  func anErrorSaysNoMoreThanItsCodeAndTheBeginningOfItsMessage() throws {
    let text = """
      <Error><Code>SignatureDoesNotMatch</Code><Message>It does\u{7}not match.\(String(repeating: "x", count: 999))</Message>
      <StringToSign>hush</StringToSign><SignatureProvided>hush</SignatureProvided></Error>
      """
    let response = HTTPResponse(status: 403, url: try HTTPURL("http://a.invalid/"))
    let error = S3Error(response, Data(text.utf8), "s3://a/b")
    #expect(error.code == .denied && error.serviceCode == "SignatureDoesNotMatch" && error.status == 403)
    #expect(
      error.description.hasPrefix(
        "s3://a/b: the server answered with status 403 (SignatureDoesNotMatch: It does not match."
      )
    )
    #expect(error.description.count < 400 && !error.description.contains("hush"))
  }
}
