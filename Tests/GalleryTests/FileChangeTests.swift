import Testing
import VitrineGalleryModel
import VitrineRuntime
import VitrineTestSupport

/// Files that get other names and places.
struct FileChangeTests {
  private let folder: TemporaryFolder
  private let target: String

  init() throws {
    folder = try TemporaryFolder()
    target = folder.path + "/target"
    try AtomicFile.makeFolder(ByteString(target))
    try folder.write(Data("picture".utf8), to: "a.jpg")
  }

  private var path: String { folder.path + "/a.jpg" }

  private func text(_ path: String) -> String? {
    (try? FileContents.at(path)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test
  func aFileGetsAnotherNameAndItsOldOneBack() throws {
    let file = try FileChange.changeName(of: path, to: "b.jpg")
    #expect(text(path) == nil && text(folder.path + "/b.jpg") == "picture")
    try FileChange.putBack(file)
    #expect(text(path) == "picture" && text(folder.path + "/b.jpg") == nil)
  }

  @Test(arguments: ["", ".", "..", "inner/b.jpg", "b\0.jpg"])
  func aNameThatIsNoneChangesNothing(name: String) {
    #expect(throws: FileChangeError.self) { try FileChange.changeName(of: path, to: name) }
    #expect(text(path) == "picture")
  }

  @Test
  func noFileIsReplaced() throws {
    try folder.write(Data("other".utf8), to: "b.jpg")
    try folder.write(Data("third".utf8), to: "target/a.jpg")
    #expect { try FileChange.changeName(of: path, to: "b.jpg") } throws: { "\($0)".contains("b.jpg") }
    #expect(throws: FileChangeError.self) { try FileChange.move(path, into: target) }
    #expect(try FileChange.copy(path, into: target) == target + "/a (2).jpg")
    #expect(try FileChange.copy(path, into: target) == target + "/a (3).jpg")
    #expect(text(path) == "picture" && text(folder.path + "/b.jpg") == "other" && text(target + "/a.jpg") == "third")
    #expect(text(target + "/a (3).jpg") == "picture")
  }

  @Test
  func aFileMovesToAFolderAndBack() throws {
    let file = try FileChange.move(path, into: target)
    #expect(text(path) == nil && text(target + "/a.jpg") == "picture")
    try FileChange.putBack(file)
    #expect(text(path) == "picture")
    // Its own folder is no change.
    let same = try FileChange.move(path, into: folder.path)
    #expect(same.place == same.original && text(path) == "picture")
  }

  /// Another volume, if the machine has one in memory.
  @Test
  func aFileMovesToAnotherVolume() throws {
    let memory = "/dev/shm"
    guard let other = ByteString(memory).status()?.st_dev, other != ByteString(folder.path).status()?.st_dev,
      unsafe access(memory, W_OK) == 0
    else { return }
    let place = "\(memory)/vitrine-\(getpid())-move"
    try AtomicFile.makeFolder(ByteString(place))
    defer { try? FileManager.default.removeItem(atPath: place) }
    let modified = ByteString(path).status()?.st_mtim.tv_sec
    let file = try FileChange.move(path, into: place)
    #expect(text(path) == nil && text(place + "/a.jpg") == "picture")
    #expect(ByteString(place + "/a.jpg").status()?.st_mtim.tv_sec == modified)
    try FileChange.putBack(file)
    #expect(text(path) == "picture" && text(place + "/a.jpg") == nil)
  }

  @Test
  func aCopyThatFailsLeavesNothing() throws {
    #expect(throws: FileChangeError.self) { try FileChange.copy(folder.path + "/none.jpg", into: target) }
    #expect(throws: FileChangeError.self) { try FileChange.copy(path, into: folder.path + "/none") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
  }

  @Test
  func whatIsDeletedIsGone() throws {
    try FileChange.delete(path)
    #expect(text(path) == nil)
    #expect(throws: FileChangeError.self) { try FileChange.delete(path) }
  }

  @Test
  func stepsAreUndoneFromTheLastOn() throws {
    var history = FileHistory()
    #expect(!history.canUndo)
    history.add(.moved([]))
    #expect(!history.canUndo)
    let first = try FileChange.changeName(of: path, to: "b.jpg")
    history.add(.moved([first]))
    let second = try FileChange.changeName(of: folder.path + "/b.jpg", to: "c.jpg")
    history.add(.moved([second]))
    #expect(history.takeLast() == .moved([second]) && history.takeLast() == .moved([first]) && !history.canUndo)
  }
}

/// Paths whose bytes are no text.
struct FileTextTests {
  private static let names: [[UInt8]] = [
    Array("plain.jpg".utf8), Array("café.jpg".utf8), [0x63, 0xE9] + Array(".jpg".utf8),
    [0xFF, 0xFE, 0x2E, 0x6A, 0x70, 0x67],
    // A private character itself, and the beginning of one.
    Array("a\u{F7E9}.jpg".utf8), [0xEF, 0x9F] + Array(".jpg".utf8), Array("\u{F6FF}\u{F800}.jpg".utf8),
    // Too long a form of "/", half of a pair, and a sequence that breaks off.
    [0xC0, 0xAF] + Array(".jpg".utf8), [0xED, 0xA0, 0x80] + Array(".jpg".utf8),
    [0xF0, 0x9F, 0x98] + Array(".jpg".utf8),
  ]

  @Test(arguments: names)
  func everyPathHasOneText(bytes: [UInt8]) {
    let text = ByteString(bytes: bytes).fileText
    #expect(ByteString(fileText: text).bytes == bytes)
    #expect(text.hasPrivateBytes == (text != String(validating: bytes, as: UTF8.self)))
  }

  @Test
  func randomBytesComeBack() {
    var random = SplitMix64(seed: 3)
    let parts: [UInt8] = [0x41, 0xC3, 0xA9, 0xEF, 0x9C, 0x9F, 0xBF, 0x80, 0xF0, 0xED]
    var texts: Set<String> = []
    for _ in 0..<3000 {
      let bytes = (0..<Int.random(in: 0..<8, using: &random)).map { _ in parts.randomElement(using: &random) ?? 0 }
      let text = ByteString(bytes: bytes).fileText
      #expect(ByteString(fileText: text).bytes == bytes)
      texts.insert(text)
    }
    #expect(texts.count > 500)
  }

  @Test
  func aFileOfAnyNameIsListedWatchedMovedAndFoundByItsURI() async throws {
    let folder = try TemporaryFolder()
    let watch = try FolderWatch(folder.path)
    for name in Self.names {
      let place = ByteString(folder.path + "/") + ByteString(bytes: name)
      let file = unsafe place.withCString { unsafe open($0, O_CREAT | O_WRONLY, 0o600) }
      try #require(file >= 0)
      close(file)
    }
    let items = try FolderListing.items(of: folder.path)
    #expect(items.count == Self.names.count && Set(items.map(\.id)).count == items.count)
    var seen: Set<ItemID> = []
    for await change in watch.changes {
      if case .names(let names) = change { seen.formUnion(names) }
      if seen.count >= Self.names.count { break }
    }
    #expect(seen == Set(Self.names.map { ItemID(ByteString(bytes: $0).fileText) }))
    for item in items {
      let path = try #require(item.path)
      #expect(FolderListing.item(at: path) == item)
      #expect(PastedText.places(in: path.fileURI) == [.file(path)])
      #expect(item.name == ByteString(fileText: path).lastComponent.readable)
      let sources = GallerySources([path])
      #expect(sources.opened == item.id && sources.problems.isEmpty)
      let moved = try FileChange.changeName(of: path, to: "renamed.jpg")
      try FileChange.putBack(moved)
      #expect(FolderListing.item(at: path) != nil)
    }
    #expect(items.contains { $0.name == "c\\xE9.jpg" })
  }
}
