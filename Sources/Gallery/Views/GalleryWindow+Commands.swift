import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel
import VitrineRuntime

extension GalleryWindow {
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
    makeChoice("kind", ItemKind.all) { [weak self] in self?.setKind($0) }
    makeChoice("interval", state.interval) { [weak self] in self?.state.interval = $0 }
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
    (library.order, state.order) = (order, order)
    sort()
    if order == .taken { library.readDates(of: Array(grid.list.pictures)) }
  }

  private func sort() {
    grid.change { $0.setOrder(state.order, isReversed: state.isReversed) }
    update()
  }

  private func setKind(_ kind: ItemKind) {
    grid.change { $0.setKind(kind) }
    update()
  }

  func setSwitch(_ command: Command, _ isOn: Bool) {
    actions[command]?.isOn = isOn
  }

  /// Greys out what cannot be done now.
  func updateActions() {
    for (command, action) in actions { action.set("enabled", isPossible(command)) }
  }

  /// The pictures and folders that commands are about: the open picture, or what is selected.
  var subjects: [GalleryItem] { page == .photo ? [photo.item].compactMap(\.self) : grid.selectedItems }

  private func isPossible(_ command: Command) -> Bool {
    if crop.isActive, !Crop.commands.contains(command) { return false }
    return switch command {
    case .open, .paste, .info, .fullscreen, .shortcuts, .about, .quit, .reverse, .shuffle: true
    case .statistics, .origins: isForDevelopers
    case .up: library.sources.folders.count == 1 && library.sources.folders != ["/"]
    case .recursive: !library.sources.folders.isEmpty
    case .search, .reload: page != .empty || !library.sources.isEmpty
    case .back: page == .photo || isFullScreen || isSearching
    case .next, .first, .last, .previous, .zoomFit, .zoomActual, .zoomDouble: page == .photo
    case .pause: page == .photo && photo.view.player != nil
    case .nextFrame, .previousFrame: page == .photo && (photo.view.player != nil || photo.view.pageCount > 1)
    case .openPicture: page == .grid && !subjects.isEmpty
    case .slideshow: grid.list.pictures.count > 1
    case .rotateLeft, .rotateRight, .flipHorizontally, .flipVertically: page == .photo
    case .crop: page == .photo && photo.item?.path != nil && photo.view.isLoaded
    case .zoomIn: page == .photo || page == .grid && grid.cellSize < WindowState.cellSizes.last ?? 0
    case .zoomOut: page == .photo || page == .grid && grid.cellSize > WindowState.cellSizes.first ?? 0
    case .copy: subjects.contains { !$0.isFolder }
    case .trash, .openWith, .delete, .copyTo, .moveTo: subjects.contains { $0.path != nil }
    case .saveTurn: page == .photo && photo.item?.path != nil && !photo.view.edit.isEmpty
    case .saveAs, .copyPixels, .print, .wallpaper: subjects.count == 1 && !subjects[0].isFolder
    case .rename: subjects.count == 1 && subjects[0].path != nil
    case .undo: history.canUndo
    case .selectAll: page == .grid
    }
  }

  /// Does what the user asks for; returns `false` if it cannot be done now.
  func perform(_ command: Command) -> Bool {
    guard isPossible(command) else { return false }
    switch command {
    case .quit: window.close()
    case .open:
      Desktop.chooseFolder(in: window, translated("Open a Folder")) { [weak self] in _ = self?.library.open([$0]) }
    case .up: goUp()
    case .recursive:
      state.isRecursive.toggle()
      setSwitch(.recursive, state.isRecursive)
      library.isRecursive = state.isRecursive
      library.reload()
    case .openPicture: if let item = subjects.first { open(item) }
    case .back: goBack()
    case .next: move(by: 1)
    case .previous: move(by: -1)
    case .first: move(to: 0)
    case .last: move(to: grid.list.pictures.count - 1)
    case .zoomIn, .zoomOut: zoom(isIn: command == .zoomIn)
    case .zoomFit: photo.view.zoomToFit()
    case .zoomActual, .zoomDouble: photo.view.zoom(to: command == .zoomActual ? 1 : 2)
    case .pause: setPause(!isPaused)
    case .nextFrame, .previousFrame: step(by: command == .nextFrame ? 1 : -1)
    case .rotateLeft, .rotateRight: photo.view.rotate(quarters: command == .rotateRight ? 1 : -1)
    case .flipHorizontally, .flipVertically: photo.view.flip(command == .flipHorizontally ? .horizontal : .vertical)
    case .crop: crop.toggle()
    case .copy: copy()
    case .paste: Desktop.paste(into: window) { [weak self] in self?.add($0) }
    case .trash: Task { await moveToTrash() }
    case .undo: Task { await undo() }
    case .saveTurn: Task { await saveEdit() }
    case .saveAs: saveAs()
    case .print, .wallpaper: Task { if command == .print { await printPixels() } else { await setWallpaper() } }
    case .copyPixels: Task { await copyPixels() }
    case .rename: rename()
    case .delete: deleteForGood()
    case .copyTo, .moveTo: transfer(isMove: command == .moveTo)
    case .shortcuts: Help.showShortcuts(in: window)
    case .about: Help.showAbout(in: window)
    case .slideshow: slideshow.toggle()
    case .shuffle:
      state.shuffles.toggle()
      setSwitch(.shuffle, state.shuffles)
    case .reverse:
      state.isReversed.toggle()
      setSwitch(.reverse, state.isReversed)
      sort()
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

  /// Opens the folder above, and selects the former folder in it.
  private func goUp() {
    guard let folder = library.sources.folders.first, let slash = folder.lastIndex(of: "/") else { return }
    if page == .photo { showGrid() }
    let above = slash == folder.startIndex ? "/" : String(folder[..<slash])
    let opening = library.open([above])
    Task {
      await opening.value
      grid.show(ItemID(folder))
    }
  }

  /// Plays or pauses the animations.
  func setPause(_ isPaused: Bool) {
    self.isPaused = isPaused
    photo.view.plays = !isPaused
    setSwitch(.pause, isPaused)
    update()
  }

  /// Shows another page, or another frame of the animation, which stays.
  private func step(by distance: Int) {
    guard let player = photo.view.player else { return photo.view.turnPage(by: distance) }
    setPause(true)
    photo.view.step(player, by: distance) { [weak self] in self?.update() }
  }

  private func goBack() {
    if crop.isActive {
      crop.end()
    } else if slideshow.isRunning {
      slideshow.stop()
    } else if isFullScreen {
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
    let pictures = subjects.filter { !$0.isFolder }
    Desktop.copy(pictures, from: window)
    toast.show(translated("%s picture copied", many: "%s pictures copied", pictures.count))
  }
}
