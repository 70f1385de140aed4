import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel
import VitrineRuntime

extension GalleryWindow {
  private static let files = WorkQueue(label: "gallery-trash", width: 1)

  // MARK: Actions

  /// Makes the window's actions, for menus and buttons.
  func makeActions() {
    for command in Command.allCases {
      let isSwitch = Command.switches.contains(command)
      let action = Action(command.rawValue, isOn: isSwitch ? false : nil) { [weak self] in _ = self?.perform(command) }
      action.add(to: window)
      actions[command] = action
    }
    makeChoice("order", state.order) { [weak self] in self?.setOrder($0) }
    makeChoice("theme", state.theme) { [weak self] in self?.appearance.theme = $0 }
  }

  /// Makes an action that chooses one of several values.
  private func makeChoice<Value: RawRepresentable<String>>(
    _ name: String,
    _ initial: Value,
    _ chosen: @escaping @MainActor (Value) -> Void,
  ) {
    Action(name, choice: initial.rawValue) { if let value = Value(rawValue: $0) { chosen(value) } }.add(to: window)
  }

  private func setOrder(_ order: ItemOrder) {
    library.order = order
    grid.change { $0.setOrder(order) }
    update()
  }

  func setSwitch(_ command: Command, _ isOn: Bool) {
    actions[command]?.isOn = isOn
  }

  /// Greys out what cannot be done now.
  func updateActions() {
    for (command, action) in actions { action.set("enabled", isPossible(command)) }
  }

  /// The pictures that commands are about: the open one, or the selected ones.
  var subjects: [GalleryItem] { page == .photo ? [photo.item].compactMap(\.self) : grid.selectedItems }

  private func isPossible(_ command: Command) -> Bool {
    switch command {
    case .open, .paste, .info, .fullscreen, .statistics, .origins, .quit: true
    case .search, .reload: page != .empty || !library.sources.isEmpty
    case .back: page == .photo || isFullScreen || isSearching
    case .next, .first, .last, .previous, .zoomFit, .zoomActual: page == .photo
    case .rotateLeft, .rotateRight: page == .photo
    case .zoomIn: page == .photo || page == .grid && grid.cellSize < WindowState.cellSizes.last ?? 0
    case .zoomOut: page == .photo || page == .grid && grid.cellSize > WindowState.cellSizes.first ?? 0
    case .copy: !subjects.isEmpty
    case .trash, .openWith: subjects.contains { $0.path != nil }
    case .undo: history.canUndo
    case .selectAll: page == .grid
    }
  }

  /// Does what the user asks for; returns `false` if it cannot be done now.
  func perform(_ command: Command) -> Bool {
    guard isPossible(command) else { return false }
    switch command {
    case .quit: window.close()
    case .open: Desktop.chooseFolder(in: window) { [weak self] in _ = self?.library.open([$0]) }
    case .back: goBack()
    case .next: move(by: 1)
    case .previous: move(by: -1)
    case .first: move(to: 0)
    case .last: move(to: grid.list.visible.count - 1)
    case .zoomIn, .zoomOut: zoom(isIn: command == .zoomIn)
    case .zoomFit: photo.view.zoomToFit()
    case .zoomActual: photo.view.zoom(to: 1)
    case .rotateLeft: photo.view.rotate(quarters: -1)
    case .rotateRight: photo.view.rotate(quarters: 1)
    case .copy: copy()
    case .paste: Desktop.paste(into: window) { [weak self] in self?.add($0) }
    case .trash: Task { await moveToTrash() }
    case .undo: Task { await undo() }
    case .reload: library.reload()
    case .openWith: if let path = subjects.compactMap(\.path).first { Desktop.openWith(path, in: window) }
    case .selectAll: grid.select(SelectedItems(Set(grid.list.visible.map(\.id))))
    case .search: isSearching.toggle()
    case .info: setInfo(isShown: !info.widget.isShown)
    case .fullscreen: window.set("fullscreened", !isFullScreen)
    case .statistics:
      statistics.isShown.toggle()
      setSwitch(.statistics, statistics.isShown)
    case .origins: setOrigins(isShown: !grid.widget.hasClass("origins"))
    }
    return true
  }

  private func goBack() {
    if isFullScreen {
      window.set("fullscreened", false)
    } else if page == .photo {
      showGrid()
    } else {
      isSearching = false
    }
  }

  /// Enlarges the open photograph, or the pictures of the grid.
  private func zoom(isIn: Bool) {
    if page == .photo { return isIn ? photo.view.zoomIn() : photo.view.zoomOut() }
    grid.zoom(isIn: isIn)
    updateActions()
  }

  private func copy() {
    Desktop.copy(subjects, from: window)
    toast.show(translated("%s picture copied", many: "%s pictures copied", subjects.count))
  }

  // MARK: The trash

  /// Moves the open photograph, or the selected ones, to the trash, and goes on with the next one.
  private func moveToTrash() async {
    let paths = subjects.compactMap(\.path)
    let trash = Desktop.trash
    let outcome = try? await Self.files.run { _ in
      var (gone, files, problem): ([String], [TrashedFile], TrashError?) = ([], [], nil)
      for path in paths {
        do throws(TrashError) {
          if let file = try trash.take(path) { files.append(file) }
          gone.append(path)
        } catch {
          problem = error
        }
      }
      return (gone, files, problem)
    }
    guard let (gone, files, problem) = outcome else { return }
    history.add(files)
    await library.filesChanged(gone)
    if let problem {
      toast.show(translated("It cannot be moved to the trash: %s", problem.description), canUndo: !files.isEmpty)
    } else if let name = gone.first?.split(separator: "/").last, gone.count == 1 {
      toast.show(translated("“%s” is in the trash", String(name)), canUndo: !files.isEmpty)
    } else {
      let text = translated("%s picture is in the trash", many: "%s pictures are in the trash", gone.count)
      toast.show(text, canUndo: !files.isEmpty)
    }
    update()
  }

  /// Puts back what was moved to the trash last.
  private func undo() async {
    guard let files = history.takeLast() else { return }
    let problem = try? await Self.files.run { _ -> TrashError? in
      var problem: TrashError?
      for file in files {
        do throws(TrashError) {
          try Trash.putBack(file)
        } catch {
          problem = error
        }
      }
      return problem
    }
    toast.hide()
    if let problem = problem ?? nil { toast.show(translated("It cannot be put back: %s", problem.description)) }
    await library.filesChanged(files.map(\.original))
    let back = files.compactMap { grid.list[ItemID($0.original)] }
    guard let first = back.first else { return update() }
    if page == .photo { open(first) } else { grid.select(SelectedItems(Set(back.map(\.id)))) }
  }
}
