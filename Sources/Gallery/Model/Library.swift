import VitrineRuntime

/// The pictures of folders, files and URLs, kept up to date while files come, change and go.
///
/// Files are listed and read on a thread of its own.
@MainActor
package final class Library {
  /// A change of the pictures.
  package enum Change: Sendable {
    /// Others were opened: all pictures, the one to open at once, and messages about what could not be listed.
    case replaced(ItemList, opened: ItemID?, problems: [String])
    /// Nothing could be opened; the messages say why.
    case failed([String])
    /// Pictures went, came or have newer versions.
    case updated(removed: [ItemID], items: [GalleryItem])
  }

  /// Called with every change.
  package var onChange: (Change) -> Void = { _ in }
  /// True until something is opened.
  package private(set) var isUnused = true
  /// The open sources.
  package private(set) var sources = GallerySources()
  /// True if the pictures of the folders within are listed, too; ``reload()`` applies a change.
  package var isRecursive = false
  /// The order in which pictures are listed.
  package var order: ItemOrder
  /// Reads the time at which a photograph was taken, in nanoseconds since 1970; called off the main thread.
  package var dateReader: @Sendable (GalleryItem) -> Int64? = { _ in nil }
  private let queue = WorkQueue(label: "gallery-files", width: 1)
  private let dateQueue = WorkQueue(label: "gallery-dates", width: 1)
  private var dates: Task<Void, Never>?
  /// The identities of the open folders, as they were listed; a folder that was not there has none.
  private var identities: [String: FolderIdentity] = [:]
  /// The open folders that have gone, or were not there.
  private var gone: Set<String> = []
  /// Looks for these folders.
  private var search: Task<Void, Never>?
  /// Waits until a folder that has gone is looked for again.
  package var pause: @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(2)) }
  /// The listing that began before there was a window to show it.
  private var early: (arguments: [String], listing: Task<Listing?, Never>)?
  private var watches: [FolderWatch] = []
  private var tasks: [Task<Void, Never>] = []
  /// Incremented when something else is opened, so that what was under way for the old is dropped.
  private var generation = 0

  /// - Parameter order: The order. Defaults to the order of names.
  package init(order: ItemOrder = .name) { self.order = order }

  deinit {
    early?.listing.cancel()
    for watch in watches { watch.stop() }
    for task in tasks { task.cancel() }
    dates?.cancel()
    search?.cancel()
  }

  /// Opens folders, files, URLs and lists of them, in place of the open ones.
  ///
  /// - Returns: The task, which ends when the pictures have been listed.
  @discardableResult
  package func open(_ arguments: [String]) -> Task<Void, Never> {
    isUnused = false
    defer { early = nil }
    if let early, early.arguments == arguments { return begin(early.listing) }
    return begin { GallerySources(arguments) }
  }

  /// Begins to list what ``open(_:)`` will be asked for, while the program is still starting.
  package func prepare(_ arguments: [String]) {
    early = (arguments, list { GallerySources(arguments) })
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

  /// The number of photographs whose dates are read before the pictures are sorted again.
  private static let dateBatch = 200

  /// Reads when photographs were taken, as far as that is not known, and tells of them some at a time.
  package func readDates(of items: [GalleryItem]) {
    dates?.cancel()
    var rest = items.filter { $0.path != nil && $0.taken == nil }[...]
    let (generation, queue, read) = (generation, dateQueue, dateReader)
    dates = Task { [weak self] in
      while !rest.isEmpty, !Task.isCancelled {
        let batch = Array(rest.prefix(Self.dateBatch))
        rest = rest.dropFirst(batch.count)
        let dated = try? await queue.run(priority: .low) { _ in
          batch.compactMap { item in
            read(item).map { date in
              var item = item
              item.taken = date
              return item
            }
          }
        }
        guard let self, generation == self.generation, !Task.isCancelled else { return }
        if let dated, !dated.isEmpty { onChange(.updated(removed: [], items: dated)) }
      }
    }
  }

  /// Notes that a file has gone or come back, before the system tells of it.
  package func filesChanged(_ paths: [String]) async {
    let generation = generation
    let items = await run { paths.map { ($0, FolderListing.item(at: $0)) } } ?? []
    guard generation == self.generation else { return }
    report(items)
  }

  /// The pictures of sources, and the watches of their folders.
  private struct Listing: Sendable {
    let sources: GallerySources
    let watches: [(folder: String, watch: FolderWatch)]
    let identities: [String: FolderIdentity]
    let items: ItemList
    let problems: [String]

    /// Blocks.
    init(_ sources: GallerySources, _ order: ItemOrder) {
      self.sources = sources
      // Before they are listed, so that nothing is missed.
      watches = sources.folders.compactMap { folder in
        (try? FolderWatch(folder)).map { (folder, $0) }
      }
      let known = sources.folders.map { ($0, FolderIdentity($0)) }
      identities = Dictionary(known) { $1 }.compactMapValues(\.self)
      let watches = watches
      let (items, problems) = sources.listed { folder, inner in
        watches.first { $0.folder == folder }?.watch.add(inner)
      }
      self.items = ItemList(items, order: order)
      self.problems = problems
    }
  }

  private func list(_ find: @escaping @Sendable () -> GallerySources) -> Task<Listing?, Never> {
    let (queue, order, isRecursive) = (queue, order, isRecursive)
    // Not on the main actor, which may have no main loop yet.
    return Task.detached {
      try? await queue.run { _ in
        var sources = find()
        sources.isRecursive = isRecursive
        return Listing(sources, order)
      }
    }
  }

  private func begin(_ find: @escaping @Sendable () -> GallerySources) -> Task<Void, Never> { begin(list(find)) }

  private func begin(_ listing: Task<Listing?, Never>) -> Task<Void, Never> {
    generation += 1
    let generation = generation
    return Task {
      guard let found = await listing.value, generation == self.generation else { return }
      if found.sources.isEmpty, !sources.isEmpty, !found.problems.isEmpty {
        // What is open stays; what has changed in the meantime is listed.
        onChange(.failed(found.problems))
        reload()
        return
      }
      for watch in watches { watch.stop() }
      for task in tasks { task.cancel() }
      (sources, identities) = (found.sources, found.identities)
      gone.formIntersection(sources.folders)
      gone.formUnion(sources.folders.filter { identities[$0] == nil })
      lookForFolders()
      onChange(.replaced(found.items, opened: sources.opened, problems: found.problems))
      watches = found.watches.map(\.watch)
      tasks = found.watches.map { folder, watch in
        let changes = watch.changes
        return Task { [weak self] in
          for await change in changes { await self?.folderChanged(folder, change, generation) }
        }
      }
    }
  }

  private func folderChanged(_ folder: String, _ change: FolderWatch.Change, _ generation: Int) async {
    // Another folder may have gone, and everything been listed again, in the meantime.
    if change == .gone, sources.folders.contains(folder) {
      gone.insert(folder)
      reload()
    }
    guard generation == self.generation else { return }
    switch change {
    case .names(let names):
      let parent = folder == "/" ? folder : folder + "/"
      let isRecursive = isRecursive
      let items = await run {
        names.filter { name in !name.text.split(separator: "/").contains { $0.hasPrefix(".") } }.map { name in
          (parent + name.text, FolderListing.item(at: parent + name.text, withFolders: !isRecursive))
        }
      }
      guard generation == self.generation else { return }
      report(items ?? [])
    case .everything: reload()
    case .gone: break
    }
  }

  /// Lists everything again when a folder that has gone is back, or another one is in its place: a volume that is mounted.
  private func lookForFolders() {
    guard !gone.isEmpty, search == nil else { return }
    let pause = pause
    search = Task { [weak self] in
      while await self?.findFolders() ?? false { await pause() }
    }
  }

  /// Looks once, and returns whether some folders are still missing.
  private func findFolders() async -> Bool {
    let folders = gone
    let now = await run { folders.compactMap { folder in FolderIdentity(folder).map { (folder, $0) } } } ?? []
    let back = now.filter { identities[$0.0] != $0.1 }.map(\.0)
    gone.subtract(back)
    if !back.isEmpty { await reload().value }
    guard gone.isEmpty else { return true }
    search = nil
    return false
  }

  private func report(_ items: [(String, GalleryItem?)]) {
    guard !items.isEmpty else { return }
    onChange(.updated(removed: items.filter { $0.1 == nil }.map { ItemID($0.0) }, items: items.compactMap(\.1)))
  }

  private func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value? {
    try? await queue.run { _ in work() }
  }
}

/// The identity of a folder, which another one at the same path does not have.
private struct FolderIdentity: Sendable, Equatable {
  let device: dev_t
  let number: ino_t

  /// Returns `nil` if there is no such folder; blocks.
  init?(_ path: String) {
    guard let status = ByteString(fileText: path).status(), status.kind == S_IFDIR else { return nil }
    (device, number) = (status.st_dev, status.st_ino)
  }
}
