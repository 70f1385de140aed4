import Testing
import VitrineGalleryModel
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

extension TemporaryFolder {
  fileprivate func write(_ name: String, _ text: String = "picture") throws { try write(Data(text.utf8), to: name) }
}

@Suite
struct FileTests {
  @Test
  func aFolderListsPicturesAndNeitherHiddenNorOtherFiles() throws {
    let folder = try TemporaryFolder()
    for name in ["a.jpg", "b.PNG", ".c.jpg", "d.txt", "inner/e.jpg"] { try folder.write(name) }
    try folder.write("unnamed", "GIF89a\u{1}")
    let names = try FolderListing.items(of: folder.path).map(\.name).sorted()
    #expect(names == ["a.jpg", "b.PNG", "unnamed"])
  }

  @Test
  func foldersAreListedFirstWithTheFirstPictureWithin() throws {
    let folder = try TemporaryFolder()
    for name in ["b.jpg", "z/deep/2.png", "z/deep/10.png", "y/note.txt", ".hidden/c.jpg"] { try folder.write(name) }
    let list = ItemList(try FolderListing.items(of: folder.path, withFolders: true), order: .name)
    #expect(list.visible.map(\.name) == ["y", "z", "b.jpg"] && list.pictures.map(\.name) == ["b.jpg"])
    let reversed = ItemList(list.visible, order: .newest, isReversed: true)
    #expect(reversed.visible.map(\.isFolder) == [true, true, false])
    #expect(FolderListing.cover(of: "\(folder.path)/z")?.name == "2.png")
    #expect(FolderListing.cover(of: "\(folder.path)/y") == nil)
    #expect(FolderListing.item(at: "\(folder.path)/z") == nil)
    #expect(FolderListing.item(at: "\(folder.path)/z", withFolders: true)?.isFolder == true)
  }

  @Test
  func allFoldersWithinAreListedTogetherWithoutCircles() throws {
    let folder = try TemporaryFolder()
    for name in ["b.jpg", "z/deep/2.png", ".hidden/c.jpg"] { try folder.write(name) }
    #expect(unsafe symlink(folder.path, "\(folder.path)/z/circle") == 0)
    try folder.write("closed/d.jpg")
    #expect(unsafe chmod("\(folder.path)/closed", 0) == 0)
    defer { unsafe chmod("\(folder.path)/closed", 0o700) }
    let names = try FolderListing.allItems(of: folder.path).map(\.name).sorted()
    // The administrator may list all.
    #expect(names == (getuid() == 0 ? ["2.png", "b.jpg", "d.jpg"] : ["2.png", "b.jpg"]))
    #expect(throws: FolderListing.Failure.self) { try FolderListing.allItems(of: "/there/is/none") }
  }

  @Test
  func aHistogramCountsWhatIsSeen() {
    let picture = Bitmap.pixels(width: 4, height: 2, alpha: .straight) { x, y in
      x == 0 ? SIMD4(9, 9, 9, 0) : SIMD4(200, UInt8(10 * y), 255, 255)
    }
    let histogram = Histogram(picture)
    #expect(histogram.counts[200] == SIMD3(6, 0, 0) && histogram.counts[255] == SIMD3(0, 0, 6))
    #expect(histogram.counts[0] == SIMD3(0, 3, 0) && histogram.counts[10] == SIMD3(0, 3, 0))
    #expect(histogram.counts[9] == SIMD3(0, 0, 0))
    let drawn = histogram.drawn(height: 40)
    #expect(drawn[200, 0] == SIMD4(224, 48, 48, 255) && drawn[10, 39] == SIMD4(48, 224, 48, 255))
    #expect(drawn[10, 19] == SIMD4(0, 0, 0, 0) && drawn[11, 39].w == 0)
  }

  @Test
  func aFolderListsTheFormatsThatAreDecodedAndNoOthers() throws {
    let folder = try TemporaryFolder()
    let decoded = ImageFormat.all.filter { (DecoderRegistry.standard.formats + ImageFormat.external).contains($0) }
    let names = decoded.flatMap(\.fileExtensions).map { "a.\($0)" }
    for name in names + ["a.jp2", "a.jpgx"] { try folder.write(name) }
    try folder.write("unnamed", "\u{0}\u{0}\u{0}\u{C}jP  \r\n")
    #expect(try Set(FolderListing.items(of: folder.path).map(\.name)) == Set(names))
    #expect(Set(names).isSuperset(of: ["a.svgz", "a.jfif", "a.hif", "a.avifs", "a.apng"]))
  }

  @Test
  func aFolderThatIsNotThereIsAnErrorThatNamesIt() {
    #expect { try FolderListing.items(of: "/there/is/none") } throws: { "\($0)".contains("/there/is/none") }
  }

  @Test
  func aWatchTellsOfFilesThatComeAndGo() async throws {
    let folder = try TemporaryFolder()
    let watch = try FolderWatch(folder.path)
    var changes = watch.changes.makeAsyncIterator()
    try folder.write("a.jpg")
    var names: Set<ItemID> = []
    while !names.contains("a.jpg"), case .names(let some) = await changes.next() { names.formUnion(some) }
    #expect(names.contains("a.jpg"))
    watch.stop()
    while await changes.next() != nil {}
  }

  @Test
  func aWatchTellsOfFilesInFoldersThatWereAdded() async throws {
    let folder = try TemporaryFolder()
    try folder.write("in/deep/a.jpg")
    let watch = try FolderWatch(folder.path)
    var visited: [String] = []
    var sources = GallerySources([folder.path])
    sources.isRecursive = true
    let items = sources.listed { _, inner in
      visited.append(inner)
      watch.add(inner)
    }.items
    #expect(items.map(\.name) == ["a.jpg"] && visited == ["/in", "/in/deep"].map { folder.path + $0 })
    // Not within.
    watch.add(folder.path)
    watch.add("/")
    var changes = watch.changes.makeAsyncIterator()
    try folder.write("in/deep/b.jpg")
    var names: Set<ItemID> = []
    while names.isEmpty, case .names(let some) = await changes.next() { names.formUnion(some) }
    #expect(names == ["in/deep/b.jpg"])
    // A new folder and one that goes are a reason to list everything.
    try FileManager.default.createDirectory(atPath: folder.path + "/in/new", withIntermediateDirectories: false)
    while let change = await changes.next(), change != .everything {}
    try FileManager.default.removeItem(atPath: folder.path + "/in/deep")
    while let change = await changes.next(), change != .everything {}
    watch.stop()
    while await changes.next() != nil {}
  }

  @Test
  func aWatchEndsWithItsFolder() async throws {
    let folder = try TemporaryFolder()
    let watch = try FolderWatch(folder.path)
    try FileManager.default.removeItem(atPath: folder.path)
    var all: [FolderWatch.Change] = []
    for await change in watch.changes { all.append(change) }
    #expect(all.last == .gone)
  }

  /// A trash that moves files as the desktop does.
  private func trash(_ folder: TemporaryFolder) throws -> Trash {
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
    let folder = try TemporaryFolder()
    try folder.write("a.jpg")
    let path = "\(folder.path)/a.jpg"
    let file = try #require(try trash(folder).take(path))
    #expect(file.original == path && FolderListing.item(at: path) == nil)
    try Trash.putBack(file)
    #expect(FolderListing.item(at: path) != nil)
  }

  @Test
  func aFileFromTheTrashNeverReplacesAnother() throws {
    let folder = try TemporaryFolder()
    try folder.write("a.jpg", "old")
    let path = "\(folder.path)/a.jpg"
    let file = try #require(try trash(folder).take(path))
    try folder.write("a.jpg", "new")
    #expect(throws: FileChangeError.self) { try Trash.putBack(file) }
    #expect(try FileContents.at(path) == Data("new".utf8))
  }

  @Test
  func onePictureStandsForItsFolder() throws {
    let folder = try TemporaryFolder()
    try folder.write("a.jpg")
    let sources = GallerySources(["\(folder.path)/a.jpg"])
    #expect(sources.folders == [folder.path] && sources.opened?.text == "\(folder.path)/a.jpg")
  }

  @Test
  func aFolderWithLinksAndFoldersListsFilesOnly() throws {
    let folder = try TemporaryFolder()
    for name in ["a.jpg", "folder.jpg/b.png"] { try folder.write(name) }
    #expect(unsafe symlink("\(folder.path)/a.jpg", "\(folder.path)/link.jpg") == 0)
    #expect(unsafe symlink("/there/is/none.jpg", "\(folder.path)/broken.jpg") == 0)
    #expect(unsafe mkfifo("\(folder.path)/pipe.jpg", 0o600) == 0)
    let items = try FolderListing.items(of: folder.path)
    #expect(items.map(\.name).sorted() == ["a.jpg", "link.jpg"])
    #expect(items.allSatisfy { $0 == FolderListing.item(at: $0.id.text) })
  }

  /// "é" as one character and as two: macOS writes the one, and most others the other.
  @Test
  func namesThatLookTheSameAreTwoPictures() throws {
    let folder = try TemporaryFolder()
    let names = ["caf\u{E9}.jpg", "cafe\u{301}.jpg"]
    for name in names { try folder.write(name, name) }
    let items = try FolderListing.items(of: folder.path)
    #expect(items.count == 2 && items[0] != items[1] && Set(items.map(\.place)).count == 2)
    var list = ItemList()
    _ = list.replace(with: items)
    #expect(list.visible.count == 2)
    for (position, item) in list.visible.enumerated() {
      #expect(list.position(of: item.id) == position && list[item.id]?.byteCount == item.byteCount)
      #expect(list.neighbour(of: item.id, without: [item.id]) == list.visible[1 - position].id)
    }
    var selected = SelectedItems([list.visible[0].id])
    #expect(selected.items(in: list).count == 1)
    selected.leave([list.visible[1].id], from: list)
    #expect(selected.ids == [list.visible[0].id])
    _ = list.update(removing: [list.visible[0].id], adding: [])
    #expect(list.visible.count == 1)
    #expect(GallerySources(names.map { "\(folder.path)/\($0)" }).items.count == 2)
  }

  @Test
  func pathsAreThoseThatGTKMakesOfArguments() {
    #expect(GallerySources.paths(["/a/b/", "c", "d e/f"], in: "/there") == ["/a/b", "/there/c", "/there/d e/f"])
    #expect(GallerySources.paths(["/"], in: "/") == ["/"])
    for argument in ["", "./a", "/a/../b", "/a//b", "https://host.invalid/a", "file:///a"] {
      #expect(GallerySources.paths([argument], in: "/there") == nil)
    }
  }

  @Test
  @MainActor
  func whatIsOpenStaysIfNothingOfTheNextIsThere() async throws {
    let folder = try TemporaryFolder()
    try folder.write("a.jpg")
    let library = Library()
    var changes: [String] = []
    library.onChange = {
      switch $0 {
      case .replaced(let list, _, _): changes.append("\(list.count)")
      case .failed(let problems): changes += problems
      case .updated: break
      }
    }
    await library.open([folder.path]).value
    await library.open(["/there/is/none"]).value
    #expect(changes.count >= 2 && changes[0] == "1" && changes[1].hasPrefix("/there/is/none: "))
    #expect(library.sources.folders == [folder.path])
  }

  @Test
  @MainActor
  func whatWasPreparedIsOpenedLikeTheRest() async throws {
    let folder = try TemporaryFolder()
    for name in ["b.jpg", "a.jpg"] { try folder.write(name) }
    for prepared in [[folder.path], ["/there/is/none"]] {
      let library = Library()
      var names: [[String]] = []
      library.onChange = { if case .replaced(let list, _, _) = $0 { names.append(list.visible.map(\.name)) } }
      library.prepare(prepared)
      await library.open([folder.path]).value
      #expect(names == [["a.jpg", "b.jpg"]])
    }
  }

  /// As the folders of a volume that is taken out.
  @Test
  @MainActor
  func foldersThatReturnAreShownAgain() async throws {
    let folder = try TemporaryFolder()
    for name in ["one/a.jpg", "two/b.jpg"] { try folder.write(name) }
    let library = Library()
    let (pauses, pause) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    // A pause lasts until other work is done.
    library.pause = {
      pause.yield()
      await Task.yield()
    }
    let (lists, list) = AsyncStream<[String]>.makeStream()
    var items = ItemList()
    library.onChange = {
      switch $0 {
      case .replaced(let new, _, _): _ = items.replace(with: new)
      case .updated(let removed, let new): _ = items.update(removing: removed, adding: new)
      case .failed: return
      }
      list.yield(items.visible.map(\.name))
    }
    var listed = lists.makeAsyncIterator()
    await library.open(["\(folder.path)/one", "\(folder.path)/two"]).value
    for name in ["one", "two"] { try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)") }
    while await listed.next() != [] {}
    // As long as they are not there, they are looked for again and again.
    var paused = pauses.makeAsyncIterator()
    for _ in 0..<3 { await paused.next() }
    try folder.write("one/c.jpg")
    while await listed.next() != ["c.jpg"] {}
    // The search for the other one goes on.
    try folder.write("two/d.jpg")
    while await listed.next() != ["c.jpg", "d.jpg"] {}
  }

  @Test
  @MainActor
  func datesAreReadInTurnAndOnlyOnce() async throws {
    let folder = try TemporaryFolder()
    for name in ["a.jpg", "b.jpg", "c.png"] { try folder.write(name) }
    let library = Library()
    library.dateReader = { $0.name == "c.png" ? nil : $0.name == "a.jpg" ? 1 : 2 }
    let (dates, date) = AsyncStream<[GalleryItem]>.makeStream()
    var items = ItemList()
    library.onChange = {
      if case .replaced(let list, _, _) = $0 { items = list }
      if case .updated(_, let items) = $0 { date.yield(items) }
    }
    await library.open([folder.path]).value
    library.readDates(of: items.visible)
    var read = dates.makeAsyncIterator()
    let dated = try #require(await read.next())
    #expect(dated.map(\.taken) == [1, 2])
    // Of files whose dates are known, nothing is read.
    library.dateReader = { _ in
      Issue.record("a date was read again")
      return nil
    }
    library.readDates(of: dated)
  }

  @Test
  func timesAreShownInUnitsThatPeopleRead() {
    let now = Date()
    func freshness(_ age: Double, _ rest: Double?, isStale: Bool = false) -> PhotoFreshness {
      PhotoFreshness(confirmed: now - age, expires: rest.map { now + $0 }, isStale: isStale)
    }
    let ages = [1.0, 119, 120, 7199, 7200, 172_800, -5].map { freshness($0, nil).age(at: now) }
    #expect(ages.map { $0?.count } == [1, 119, 2, 119, 2, 2, 0])
    #expect(ages.map { $0?.unit } == [.seconds, .seconds, .minutes, .minutes, .hours, .days, .seconds])
    #expect(freshness(1, nil).remaining(at: now) == .unlimited)
    #expect(freshness(1, 0).remaining(at: now) == .over)
    #expect(freshness(1, 60, isStale: true).remaining(at: now) == .over)
    guard case .left(let span) = freshness(1, 60).remaining(at: now) else { return #expect(Bool(false)) }
    #expect(span.count == 60 && span.unit == .seconds)
  }

  @Test
  func pastedTextIsFilesAndURLs() {
    let text = "file:///a%20b.jpg\r\n# no\nhttps://host.invalid/c.png?x=1\n /d/ \nnothing\nftp://host.invalid/e"
    #expect(PastedText.lines(in: text) == ["/a b.jpg", "https://host.invalid/c.png?x=1", "/d"])
  }

  @Test
  func stateThatMakesNoSenseIsTheDefault() throws {
    let folder = try TemporaryFolder()
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
    // That of an older version.
    try AtomicFile.replace(ByteString(path), with: Data(#"{"width": 800}"#.utf8))
    #expect(WindowState(path: path).width == 800 && WindowState(path: path).theme == .system)
  }

  @Test
  func bytesAreShownInUnitsThatPeopleRead() {
    #expect([0, 999, 1500, 12_345_678].map { PhotoFacts.bytes($0) } == ["0 B", "999 B", "1.5 kB", "12 MB"])
    #expect(PhotoFacts.bytes(1500, ",") == "1,5 kB")
  }
}
