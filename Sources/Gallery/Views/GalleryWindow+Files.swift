import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel
import VitrineImaging
import VitrineRuntime

extension GalleryWindow {
  static let files = WorkQueue(label: "gallery-file-changes", width: 1)

  /// The outcome of a command about several files.
  struct Outcome<Change: Sendable>: Sendable {
    var changes: [Change] = []
    /// The paths of the files that were changed.
    var paths: [String] = []
    var problem: FileChangeError?
  }

  /// Changes files one after the other, off the main thread; a failure leaves the others.
  func change<Change: Sendable>(
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
