import Testing
import VitrineGalleryModel
import VitrineImaging
import VitrineRuntime

/// A folder that is removed with its test.
private final class Folder {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(
      path: "gallery-tests-\(UInt64.random(in: 0...UInt64.max))"
    )
    path = url.path(percentEncoded: false)
    try AtomicFile.makeFolder(ByteString(path))
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ name: String, _ text: String = "picture") throws {
    let place = ByteString("\(path)/\(name)")
    try AtomicFile.makeParents(of: place)
    try AtomicFile.replace(place, with: Data(text.utf8))
  }
}

@Suite
struct FileTests {
  @Test
  func aFolderListsPicturesAndNeitherHiddenNorOtherFiles() throws {
    let folder = try Folder()
    for name in ["a.jpg", "b.PNG", ".c.jpg", "d.txt", "inner/e.jpg"] { try folder.write(name) }
    try folder.write("unnamed", "GIF89a\u{1}")
    let names = try FolderListing.items(of: folder.path).map(\.name).sorted()
    #expect(names == ["a.jpg", "b.PNG", "unnamed"])
  }

  @Test
  func aFolderThatIsNotThereIsAnErrorThatNamesIt() {
    #expect { try FolderListing.items(of: "/there/is/none") } throws: { "\($0)".contains("/there/is/none") }
  }

  @Test
  func aWatchTellsOfFilesThatComeAndGo() async throws {
    let folder = try Folder()
    let watch = try FolderWatch(folder.path)
    var changes = watch.changes.makeAsyncIterator()
    try folder.write("a.jpg")
    var names: Set<String> = []
    while !names.contains("a.jpg"), case .names(let some) = await changes.next() { names.formUnion(some) }
    #expect(names.contains("a.jpg"))
    watch.stop()
    while await changes.next() != nil {}
  }

  @Test
  func aWatchEndsWithItsFolder() async throws {
    let folder = try Folder()
    let watch = try FolderWatch(folder.path)
    try FileManager.default.removeItem(atPath: folder.path)
    var all: [FolderWatch.Change] = []
    for await change in watch.changes { all.append(change) }
    #expect(all.last == .gone)
  }

  /// A trash that moves files as the desktop does.
  private func trash(_ folder: Folder) throws -> Trash {
    let home = "\(folder.path)/Trash"
    for name in ["files", "info"] { try AtomicFile.makeFolder(ByteString("\(home)/\(name)")) }
    return Trash(home: home) { path in
      let name = path.split(separator: "/").last.map(String.init) ?? ""
      let note = "[Trash Info]\nPath=\(path)\nDeletionDate=2026-01-02T03:04:05\n"
      try AtomicFile.replace(ByteString("\(home)/info/\(name).trashinfo"), with: Data(note.utf8))
      _ = unsafe rename(path, "\(home)/files/\(name)")
    }
  }

  @Test
  func aFileComesBackFromTheTrash() throws {
    let folder = try Folder()
    try folder.write("a.jpg")
    let path = "\(folder.path)/a.jpg"
    let file = try #require(try trash(folder).take(path))
    #expect(file.original == path && FolderListing.item(at: path) == nil)
    try Trash.putBack(file)
    #expect(FolderListing.item(at: path) != nil)
  }

  @Test
  func aFileFromTheTrashNeverReplacesAnother() throws {
    let folder = try Folder()
    try folder.write("a.jpg", "old")
    let path = "\(folder.path)/a.jpg"
    let file = try #require(try trash(folder).take(path))
    try folder.write("a.jpg", "new")
    #expect(throws: TrashError.self) { try Trash.putBack(file) }
    #expect(try FileContents.at(path) == Data("new".utf8))
  }

  @Test
  func onePictureStandsForItsFolder() throws {
    let folder = try Folder()
    try folder.write("a.jpg")
    let sources = GallerySources(["\(folder.path)/a.jpg"])
    #expect(sources.folders == [folder.path] && sources.opened == "\(folder.path)/a.jpg")
  }

  @Test
  func pastedTextIsFilesAndURLs() {
    let text = "file:///a%20b.jpg\r\n# no\nhttps://host.invalid/c.png?x=1\n /d/ \nnothing\nftp://host.invalid/e"
    #expect(PastedText.lines(in: text) == ["/a b.jpg", "https://host.invalid/c.png?x=1", "/d"])
  }

  @Test
  func stateThatMakesNoSenseIsTheDefault() throws {
    let folder = try Folder()
    let path = "\(folder.path)/state/window.json"
    var state = WindowState()
    (state.width, state.showsInfo, state.order) = (900, true, .newest)
    try state.write(to: path)
    #expect(WindowState(path: path) == state)
    state.width = -1
    try state.write(to: path)
    #expect(WindowState(path: path).width == WindowState().width)
    try AtomicFile.replace(ByteString(path), with: Data("{".utf8))
    #expect(WindowState(path: path) == WindowState())
  }

  @Test
  func bytesAreShownInUnitsThatPeopleRead() {
    #expect([0, 999, 1500, 12_345_678].map { PhotoFacts.bytes($0) } == ["0 B", "999 B", "1.5 kB", "12 MB"])
    #expect(PhotoFacts.bytes(1500, ",") == "1,5 kB")
  }
}
