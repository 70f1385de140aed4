import Vitrine
import VitrineCaching
import VitrineRuntime
import VitrineTiles

/// The pictures of the latest requests of viewers that zoom, which are kept open.
///
/// An open picture holds the bytes of its file and an index of them, so that a tile costs as much as its pixels.
actor OpenPictures {
  /// A picture, and its bytes as they were confirmed last.
  struct Opened: Sendable {
    let picture: TiledImage
    let source: PipelineResources.Source
  }

  private final class Entry {
    let task: Task<Result<Opened, LoadError>, Never>
    /// The picture, once it has been opened.
    var opened: Opened?
    /// The time until which the bytes need no confirmation.
    var expires: Date?
    var use = 0

    init(_ task: Task<Result<Opened, LoadError>, Never>) { self.task = task }

    /// True unless the picture has been opened, and its bytes have expired.
    func isFresh(at now: Date) -> Bool { opened == nil || expires.map { now < $0 } ?? true }

    var byteCount: Int { opened?.source.data.count ?? 0 }
  }

  /// The maximum number of pictures.
  private static let limit = 64
  /// The time for which even a stale picture is not fetched again: the tiles of a view come at once.
  private static let pause = 5.0

  private let pipeline: ImagePipeline
  private let byteLimit: Int
  private var entries: [CacheKey: Entry] = [:]
  private var uses = 0

  init(_ pipeline: ImagePipeline, byteLimit: Int) { (self.pipeline, self.byteLimit) = (pipeline, byteLimit) }

  /// Opens a picture once for all requests at the same time, and keeps it open.
  func picture(for request: ImageRequest) async throws(LoadError) -> Opened {
    let key = request.fetchKey
    let clock = pipeline.resources.clock
    let known = entries[key]
    let entry: Entry
    if let known, known.isFresh(at: clock.now) {
      entry = known
    } else {
      let (pipeline, old) = (pipeline, known?.opened)
      entry = Entry(Task { await Self.open(request, old, pipeline) })
      entries[key] = entry
    }
    uses += 1
    entry.use = uses
    let result = await entry.task.value
    guard entries[key] === entry else { return try result.get() }
    switch result {
    case .success(let opened):
      if entry.opened == nil {
        entry.opened = opened
        entry.expires = opened.source.expires.map { max($0, clock.now.addingTimeInterval(Self.pause)) }
        makeRoom(beside: key)
      }
    case .failure: entries[key] = nil
    }
    return try result.get()
  }

  /// Closes a picture, whose next request fetches it anew.
  func close(_ key: CacheKey) { entries[key] = nil }

  private static func open(
    _ request: ImageRequest,
    _ old: Opened?,
    _ pipeline: ImagePipeline,
  ) async -> Result<Opened, LoadError> {
    do throws(LoadError) {
      if let old {
        let source = try await pipeline.resources.bytes(for: request)
        // The index of the same bytes is the same.
        if source.contentID == old.source.contentID { return .success(Opened(picture: old.picture, source: source)) }
      }
      let picture = try await pipeline.tiledImage(for: request)
      return .success(Opened(picture: picture, source: picture.source))
    } catch {
      return .failure(error)
    }
  }

  private func makeRoom(beside key: CacheKey) {
    var bytes = entries.values.reduce(0) { $0 + $1.byteCount }
    while entries.count > Self.limit || bytes > byteLimit,
      let last = entries.filter({ $0.key != key && $0.value.opened != nil }).min(by: { $0.value.use < $1.value.use })
    {
      bytes -= last.value.byteCount
      entries[last.key] = nil
    }
  }
}
