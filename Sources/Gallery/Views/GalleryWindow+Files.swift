import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel
import VitrineImaging
import VitrineRuntime

extension GalleryWindow {
  private static let files = WorkQueue(label: "gallery-file-changes", width: 1)

  /// What came of a command about several files.
  private struct Outcome<Change: Sendable>: Sendable {
    var changes: [Change] = []
    /// The paths of the files that were changed.
    var paths: [String] = []
    var problem: FileChangeError?
  }

  /// Changes files one after the other, off the main thread; a failure leaves the others.
  private func change<Change: Sendable>(
    _ paths: [String],
    _ body: @escaping @Sendable (String) throws(FileChangeError) -> Change,
  ) async -> Outcome<Change>? {
    try? await Self.files.run { _ in
      var outcome = Outcome<Change>()
      for path in paths {
        do throws(FileChangeError) {
          outcome.changes.append(try body(path))
          outcome.paths.append(path)
        } catch {
          outcome.problem = error
        }
      }
      return outcome
    }
  }

  private var subjectPaths: [String] { subjects.compactMap(\.path) }

  // MARK: The trash

  /// Moves the open photograph, or the selected ones, to the trash, and goes on with the next one.
  func moveToTrash() async {
    let trash = Desktop.trash
    let outcome = await change(subjectPaths) { path throws(FileChangeError) in try trash.take(path) }
    guard let outcome else { return }
    history.add(.trashed(outcome.changes.compactMap(\.self)))
    await library.filesChanged(outcome.paths)
    let canUndo = outcome.changes.contains { $0 != nil }
    if let problem = outcome.problem {
      toast.show(translated("It cannot be moved to the trash: %s", problem.description), canUndo: canUndo)
    } else if outcome.paths.count == 1, let name = Self.name(of: outcome.paths[0]) {
      toast.show(translated("“%s” is in the trash", name), canUndo: canUndo)
    } else {
      let count = outcome.paths.count
      toast.show(
        translated("%s picture is in the trash", many: "%s pictures are in the trash", count),
        canUndo: canUndo,
      )
    }
    update()
  }

  private static func name(of path: String) -> String? {
    path.split(separator: "/").last.map { String($0).readablePath }
  }

  /// Undoes the last change of files.
  func undo() async {
    guard let step = history.takeLast() else { return }
    let originals: [String]
    let problem: FileChangeError?
    switch step {
    case .trashed(let files):
      originals = files.map(\.original)
      problem = await putBack(files) { file throws(FileChangeError) in try Trash.putBack(file) }
    case .moved(let files):
      originals = files.map(\.original)
      problem = await putBack(files) { file throws(FileChangeError) in try FileChange.putBack(file) }
      await library.filesChanged(files.map(\.place))
    case .changed(let file):
      originals = [file.path]
      problem = await putBack([file]) { file throws(FileChangeError) in try file.restore() }
    }
    toast.hide()
    if let problem { toast.show(translated("It cannot be put back: %s", problem.description)) }
    await library.filesChanged(originals)
    show(originals)
  }

  private func putBack<File: Sendable>(
    _ files: [File],
    _ body: @escaping @Sendable (File) throws(FileChangeError) -> Void,
  ) async -> FileChangeError? {
    let problem = try? await Self.files.run { _ -> FileChangeError? in
      var problem: FileChangeError?
      for file in files {
        do throws(FileChangeError) {
          try body(file)
        } catch {
          problem = error
        }
      }
      return problem
    }
    return problem ?? nil
  }

  /// Opens or selects pictures that have come.
  private func show(_ paths: [String]) {
    let items = paths.compactMap { grid.list[ItemID($0)] }
    guard let first = items.first else { return update() }
    if page == .photo { open(first) } else { grid.select(SelectedItems(Set(items.map(\.id)))) }
  }

  // MARK: Pixels

  /// The request of a picture with all its pixels, turned as it is shown.
  private func turned(_ item: GalleryItem) -> ImageRequest {
    var request = item.request
    let turns = page == .photo ? photo.view.turns : 0
    if turns > 0 { request.processors = [.rotate(quarterTurns: turns)] }
    return request
  }

  /// Puts the pixels of a picture on the clipboard.
  func copyPixels() async {
    guard let item = subjects.first else { return }
    do throws(LoadError) {
      Desktop.copy(try await photo.pipeline.image(for: turned(item)), from: window)
      toast.show(translated("The pixels are copied"))
    } catch {
      toast.show(error.shortText)
    }
  }

  /// Prints a picture, at no more pixels than a page shows.
  func printPixels() async {
    guard let item = subjects.first else { return }
    var request = turned(item)
    request.size = .pixels(4096)
    do throws(LoadError) {
      Printing.print(try await photo.pipeline.image(for: request), name: item.name, in: window)
    } catch {
      toast.show(error.shortText)
    }
  }

  /// Asks for a name, a size and a format, and writes a picture.
  func saveAs() {
    guard let item = subjects.first else { return }
    let request = turned(item)
    SaveDialog.choose(in: window, name: item.name) { [weak self] wish in
      guard let self else { return }
      guard let wish else {
        return toast.show(translated("The name needs an ending such as .jpg, .png, .webp or .avif"))
      }
      Task { await self.save(request, wish) }
    }
  }

  private func save(_ request: ImageRequest, _ wish: SaveDialog.Wish) async {
    var request = request
    if let side = wish.longestSide { request.size = .pixels(Double(side), Double(side), .fit) }
    do throws(LoadError) {
      let file = try await photo.pipeline.encoded(for: request, as: wish.encoding)
      let problem = try? await Self.files.run { _ -> String? in
        do {
          try AtomicFile.replace(ByteString(fileText: wish.path), with: file.data)
          return nil
        } catch {
          return "\(error)"
        }
      }
      if let problem = problem ?? nil { return toast.show(translated("It cannot be saved: %s", problem)) }
      await library.filesChanged([wish.path])
      toast.show(translated("Saved: %s", PhotoFacts.bytes(file.data.count)))
    } catch {
      toast.show(translated("It cannot be saved: %s", error.detail))
    }
  }

  // MARK: Turns

  /// The formats that can be written again: without loss, and with a little.
  private static let losslessFormats: [ImageFormat] = [.png, .webp, .gif, .qoi, .jxl]
  private static let lossyFormats: [ImageFormat] = [.jpeg, .avif]

  /// Saves the open photograph as it is turned: a JPEG without loss where its size allows that.
  func saveTurn() async {
    guard let item = photo.item, let path = item.path, photo.view.turns > 0 else { return }
    let (turns, request) = (photo.view.turns, turned(item))
    let limits = photo.pipeline.configuration.decodeLimits
    let read = try? await Self.files.run { _ in Result { try Self.turn(path, turns, limits) } }
    do {
      guard let (data, turned, format) = try read?.get() else { return }
      var (new, isLossless) = (turned, turned != nil)
      if new == nil {
        isLossless = Self.losslessFormats.contains(format)
        guard isLossless || Self.lossyFormats.contains(format) else {
          return toast.show(translated("Pictures of this format cannot be saved; use “Save As…”"))
        }
        var encoding = ImageEncoding(format, quality: isLossless ? nil : 95, isLossless: isLossless && format != .gif)
        encoding.metadata = .keep
        new = try await photo.pipeline.encoded(for: request, as: encoding).data
      }
      guard let new else { return }
      let outcome = await change([path]) { path throws(FileChangeError) in
        try FileChange.change(path, from: data, to: new)
      }
      if let problem = outcome?.problem { throw problem }
      if let file = outcome?.changes.first { history.add(.changed(file)) }
      // The file is turned now, and no longer the view.
      photo.view.rotate(quarters: -turns)
      await library.filesChanged([path])
      let text = isLossless ? translated("Saved without loss") : translated("Saved; the picture was encoded again")
      toast.show(text, canUndo: true)
      update()
    } catch {
      let detail = (error as? LoadError)?.detail ?? (error as? FileChangeError)?.detail ?? "\(error)"
      toast.show(translated("It cannot be saved: %s", detail))
    }
  }

  /// Reads a picture, and turns it if that takes no new encoding; blocks.
  private nonisolated static func turn(
    _ path: String,
    _ quarters: Int,
    _ limits: DecodeLimits,
  ) throws -> (Data, turned: Data?, ImageFormat) {
    let data = try FileContents.at(ByteString(fileText: path))
    let info = try GalleryPipeline.decoders.info(of: data)
    let turned =
      info.format == .jpeg ? try JPEGTurn(info.orientation, thenQuarters: quarters).turned(data, limits: limits) : nil
    return (data, turned, info.format)
  }

  // MARK: Other places and names

  /// Asks for another name of the open photograph, or of the selected one.
  func rename() {
    guard let item = subjects.first, let path = item.path else { return }
    Question.ask(
      in: window,
      translated("Rename “%s”", item.name),
      answer: translated("Rename"),
      text: item.name,
    ) { [weak self] name in
      Task { await self?.rename(path, to: name) }
    }
  }

  private func rename(_ path: String, to name: String) async {
    let outcome = await change([path]) { path throws(FileChangeError) in try FileChange.changeName(of: path, to: name) }
    if let problem = outcome?.problem {
      return toast.show(translated("It cannot be renamed: %s", problem.description))
    }
    guard let file = outcome?.changes.first, file.place != file.original else { return }
    history.add(.moved([file]))
    // The new one first, so that the photograph stays open.
    await library.filesChanged([file.place])
    show([file.place])
    await library.filesChanged([file.original])
    update()
  }

  /// Asks for a folder, and copies or moves files there.
  func transfer(isMove: Bool) {
    let paths = subjectPaths
    guard !paths.isEmpty else { return }
    let title = isMove ? translated("Move to a Folder") : translated("Copy to a Folder")
    Desktop.chooseFolder(in: window, title) { [weak self] folder in
      Task { if isMove { await self?.move(paths, to: folder) } else { await self?.copy(paths, to: folder) } }
    }
  }

  private func move(_ paths: [String], to folder: String) async {
    let outcome = await change(paths) { path throws(FileChangeError) in try FileChange.move(path, into: folder) }
    guard let outcome else { return }
    let moved = outcome.changes.filter { $0.place != $0.original }
    history.add(.moved(moved))
    await library.filesChanged(moved.map(\.original))
    if let problem = outcome.problem {
      toast.show(translated("It cannot be moved: %s", problem.description), canUndo: !moved.isEmpty)
    } else {
      toast.show(translated("%s picture moved", many: "%s pictures moved", moved.count), canUndo: !moved.isEmpty)
    }
    update()
  }

  private func copy(_ paths: [String], to folder: String) async {
    let outcome = await change(paths) { path throws(FileChangeError) in try FileChange.copy(path, into: folder) }
    guard let outcome else { return }
    if let problem = outcome.problem {
      toast.show(translated("It cannot be copied: %s", problem.description))
    } else {
      toast.show(translated("%s picture copied", many: "%s pictures copied", outcome.changes.count))
    }
  }

  /// Asks, and deletes the open photograph or the selected ones for good.
  func deleteForGood() {
    let items = subjects.filter { $0.path != nil }
    guard let first = items.first else { return }
    let question =
      items.count == 1
      ? translated("Delete “%s” for good?", first.name)
      : translated("Delete %s picture for good?", many: "Delete %s pictures for good?", items.count)
    Question.ask(
      in: window,
      question,
      detail: translated("This cannot be undone."),
      answer: translated("Delete"),
      isDestructive: true,
    ) { [weak self] _ in
      Task { await self?.delete(items.compactMap(\.path)) }
    }
  }

  private func delete(_ paths: [String]) async {
    let outcome = await change(paths) { path throws(FileChangeError) in try FileChange.delete(path) }
    guard let outcome else { return }
    await library.filesChanged(outcome.paths)
    if let problem = outcome.problem { toast.show(translated("It cannot be deleted: %s", problem.description)) }
    update()
  }
}
