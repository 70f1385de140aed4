import VitrineRuntime

/// The pictures of folders, files and URLs, kept up to date while files come, change and go.
///
/// Files are listed and read on a thread of its own.
@MainActor
package final class Library {
  /// A change of the pictures.
  package enum Change: Sendable {
    /// Others were opened: all pictures, the one to open at once, and messages about what could not be listed.
    case replaced([GalleryItem], opened: String?, problems: [String])
    /// Pictures went, came or have newer versions.
    case updated(removed: [String], items: [GalleryItem])
  }

  /// Called with every change.
  package var onChange: (Change) -> Void = { _ in }
  /// The open sources.
  package private(set) var sources = GallerySources()
  private let queue = WorkQueue(label: "gallery-files", width: 1)
  private var watches: [FolderWatch] = []
  private var tasks: [Task<Void, Never>] = []
  /// Incremented when something else is opened, so that what was under way for the old is dropped.
  private var generation = 0

  package init() {}

  deinit {
    for watch in watches { watch.stop() }
    for task in tasks { task.cancel() }
  }

  /// Opens folders, files, URLs and lists of them, in place of what is open.
  ///
  /// - Returns: The task, which ends when the pictures have been listed.
  @discardableResult
  package func open(_ arguments: [String]) -> Task<Void, Never> {
    begin { GallerySources(arguments) }
  }

  /// Lists everything again.
  @discardableResult
  package func reload() -> Task<Void, Never> {
    let sources = sources
    return begin {
      var again = sources
      again.opened = nil
      again.items = again.items.compactMap { item in
        guard let path = item.path else { return item }
        return FolderListing.item(at: path)
      }
      return again
    }
  }

  /// Adds files and URLs to what is open; folders are opened in its place.
  ///
  /// - Parameters:
  ///   - arguments: Paths and URLs.
  ///   - done: Called with the first picture that was added.
  package func add(_ arguments: [String], _ done: @escaping (GalleryItem) -> Void) {
    let generation = generation
    Task {
      // One file alone is not to open its folder.
      let added = await run { GallerySources(arguments + ["#"]) }
      guard let added, generation == self.generation, !added.isEmpty else { return }
      guard added.folders.isEmpty else { return _ = open(arguments) }
      let known = Set(sources.items.map(\.id))
      sources.items += added.items.filter { !known.contains($0.id) }
      onChange(.updated(removed: [], items: added.items))
      if let first = added.items.first { done(first) }
    }
  }

  /// Notes that a file has gone or come back, before the system tells of it.
  package func filesChanged(_ paths: [String]) async {
    let generation = generation
    let items = await run { paths.map { ($0, FolderListing.item(at: $0)) } } ?? []
    guard generation == self.generation else { return }
    report(items)
  }

  private func begin(_ find: @escaping @Sendable () -> GallerySources) -> Task<Void, Never> {
    generation += 1
    let generation = generation
    for watch in watches { watch.stop() }
    for task in tasks { task.cancel() }
    (watches, tasks) = ([], [])
    return Task {
      let found = await run { () -> (GallerySources, [(String, FolderWatch)], [GalleryItem], [String]) in
        let sources = find()
        // Before they are listed, so that nothing is missed.
        let watches = sources.folders.compactMap { folder in
          (try? FolderWatch(folder)).map { (folder, $0) }
        }
        let (items, problems) = sources.listed()
        return (sources, watches, items, problems)
      }
      guard let (sources, watches, items, problems) = found, generation == self.generation else { return }
      self.sources = sources
      onChange(.replaced(items, opened: sources.opened, problems: problems))
      self.watches = watches.map(\.1)
      tasks = watches.map { folder, watch in
        let changes = watch.changes
        return Task { [weak self] in
          for await change in changes { await self?.folderChanged(folder, change, generation) }
        }
      }
    }
  }

  private func folderChanged(_ folder: String, _ change: FolderWatch.Change, _ generation: Int) async {
    guard generation == self.generation else { return }
    switch change {
    case .names(let names):
      let parent = folder == "/" ? folder : folder + "/"
      let items = await run {
        names.filter { !$0.hasPrefix(".") }.map { (parent + $0, FolderListing.item(at: parent + $0)) }
      }
      guard generation == self.generation else { return }
      report(items ?? [])
    case .everything, .gone: reload()
    }
  }

  private func report(_ items: [(String, GalleryItem?)]) {
    guard !items.isEmpty else { return }
    onChange(.updated(removed: items.filter { $0.1 == nil }.map(\.0), items: items.compactMap(\.1)))
  }

  private func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value? {
    try? await queue.run { _ in work() }
  }
}
