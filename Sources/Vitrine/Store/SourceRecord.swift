import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The latest response of one source, kept while any work on that source is running.
///
/// Responses are ordered by their requests: a late response to an earlier request changes nothing. Every load of
/// a source holds a record, and all of them see the same response; without loads, nothing is remembered.
final class SourceRecord: Sendable {
  /// The place of a request in the order of all requests of a pipeline.
  typealias Sequence = UInt64

  private let source: CacheKey
  private let records: SourceRecords

  fileprivate init(_ source: CacheKey, _ records: SourceRecords) { (self.source, self.records) = (source, records) }

  deinit { records.release(source) }

  /// The request of the latest response; cached data counts as a response to it.
  var sequence: Sequence { latest.sequence }

  private var latest: SourceRecords.Entry { records.state.withLock { $0.entries[source] ?? SourceRecords.Entry() } }

  /// Records a response, unless a later request has been answered.
  ///
  /// - Returns: `true` if it is now the latest response.
  func acceptResponse(_ sequence: Sequence, _ contentID: ContentID) -> Bool {
    records.state.withLock { state in
      // The caller holds the record, so there is an entry.
      guard let index = state.entries.index(forKey: source), !state.isBeingRemoved(index),
        state.entries.values[index].sequence <= sequence
      else { return false }
      (state.entries.values[index].sequence, state.entries.values[index].contentID) = (sequence, contentID)
      return true
    }
  }

  /// Records the values of the request fields that a response's `Vary` names, unless another response came before.
  ///
  /// - Returns: The values of the first response.
  func first(_ variation: HTTPFields) -> HTTPFields {
    records.state.withLock { state in
      let first = state.entries[source]?.variation ?? variation
      state.entries[source]?.variation = first
      return first
    }
  }

  /// Returns `true` if a later request has brought other content, or if the source has been or is being removed.
  ///
  /// Content without an ID, such as a file's, is outdated by removals only.
  func isOutdated(_ sequence: Sequence, _ contentID: ContentID) -> Bool {
    records.state.withLock { state in
      guard let index = state.entries.index(forKey: source) else { return false }
      let latest = state.entries.values[index]
      return state.wasRemoved(index, since: sequence)
        || contentID != .none && latest.sequence > sequence && latest.contentID != contentID
    }
  }

  /// Returns `true` if the source has been removed since the request with this number, or is being removed.
  func wasRemoved(since sequence: Sequence) -> Bool {
    records.state.withLock { state in
      state.entries.index(forKey: source).map { state.wasRemoved($0, since: sequence) } ?? false
    }
  }
}

/// The latest responses of all sources that are being worked on.
final class SourceRecords: Sendable {
  fileprivate struct Entry {
    var holds = 1
    var sequence: SourceRecord.Sequence = 0
    var contentID = ContentID.none
    /// The values of the first response with a `Vary`, which has the plain key; `nil` before it has arrived.
    var variation: HTTPFields?
    /// The number of removals under way.
    var removals = 0
    /// The place of the latest removal; 0 for none.
    var removal: SourceRecord.Sequence = 0
  }

  fileprivate struct State {
    var entries: [CacheKey: Entry] = [:]
    var lastAsk: SourceRecord.Sequence = 0
    /// The number of removals of all sources under way.
    var removals = 0

    func isBeingRemoved(_ index: Dictionary<CacheKey, Entry>.Index) -> Bool {
      removals > 0 || entries.values[index].removals > 0
    }

    func wasRemoved(_ index: Dictionary<CacheKey, Entry>.Index, since sequence: SourceRecord.Sequence) -> Bool {
      isBeingRemoved(index) || entries.values[index].removal > sequence
    }

    /// Makes all requests so far outdated, as if a response with other content had arrived.
    mutating func outdate(_ index: Dictionary<CacheKey, Entry>.Index) {
      (entries.values[index].sequence, entries.values[index].contentID) = (lastAsk, .none)
      entries.values[index].removal = lastAsk
      entries.values[index].variation = nil
    }

    mutating func release(_ index: Dictionary<CacheKey, Entry>.Index) {
      entries.values[index].holds -= 1
      if entries.values[index].holds == 0 { entries.remove(at: index) }
    }
  }

  fileprivate let state = Lock(State())

  /// Returns the record of a source, to be held while a load works on it.
  func record(of source: CacheKey) -> SourceRecord {
    state.withLock { $0.entries[source, default: Entry(holds: 0)].holds += 1 }
    return SourceRecord(source, self)
  }

  /// Returns the place of a new request.
  func nextSequence() -> SourceRecord.Sequence {
    state.withLock { state in
      state.lastAsk += 1
      return state.lastAsk
    }
  }

  /// Makes all requests outdated until the removal of some sources ends, or of all for `nil`.
  ///
  /// A load that looks on the disk meanwhile may find an entry that is about to be removed.
  func beginRemoval(of sources: [CacheKey]?) {
    state.withLock { state in
      guard let sources else { return state.removals += 1 }
      for source in sources {
        state.entries[source, default: Entry(holds: 0)].holds += 1
        state.entries[source]?.removals += 1
      }
    }
  }

  func endRemoval(of sources: [CacheKey]?) {
    state.withLock { state in
      state.lastAsk += 1
      guard let sources else {
        state.removals -= 1
        for index in state.entries.indices { state.outdate(index) }
        return
      }
      for source in sources {
        guard let index = state.entries.index(forKey: source) else { continue }
        state.outdate(index)
        state.entries.values[index].removals -= 1
        state.release(index)
      }
    }
  }

  fileprivate func release(_ source: CacheKey) {
    state.withLock { state in
      if let index = state.entries.index(forKey: source) { state.release(index) }
    }
  }
}
