import VitrineCaching

/// The slots whose loads have failed, by source, so that they try again once another slot has loaded the same source.
@MainActor
final class FailedSlots {
  /// A source as one pipeline loads it.
  private struct Source: Hashable {
    let loader: ObjectIdentifier
    let key: CacheKey
  }

  private struct Entry {
    weak var slot: ImageSlot?
    weak var binding: ImageSlot.Binding?
  }

  private var entries: [Source: [Entry]] = [:]
  private var count = 0
  /// The count at which entries of released slots are searched for.
  private var limit = 64

  // A mailbox is made on any thread.
  nonisolated init() {}

  /// Remembers that a slot has failed, until it is forgotten or the source was loaded.
  func add(_ slot: ImageSlot, _ binding: ImageSlot.Binding, _ request: ImageRequest) {
    for source in Self.sources(of: request, slot.loader) {
      entries[source, default: []].append(Entry(slot: slot, binding: binding))
      count += 1
    }
    if count > limit { removeUseless() }
  }

  /// Retries the slots that failed with a source of the request, except slots that are gone or show another image.
  func loaded(_ request: ImageRequest, by loader: any ImageLoading, _ mailbox: FrameMailbox) {
    guard !entries.isEmpty else { return }
    for source in Self.sources(of: request, loader) {
      guard let failed = entries.removeValue(forKey: source) else { continue }
      count -= failed.count
      for entry in failed where entry.binding?.stage == .failed {
        // The slots retry one by one within the frame's budget, since each may have to draw an image from memory.
        mailbox.post { entry.slot?.tryAgain(entry.binding) }
      }
    }
  }

  private func removeUseless() {
    entries = entries.compactMapValues { failed in
      let kept = failed.filter { $0.slot != nil && $0.binding?.stage == .failed }
      return kept.isEmpty ? nil : kept
    }
    count = entries.values.reduce(0) { $0 + $1.count }
    limit = max(64, 2 * count)
  }

  /// Returns the keys of the bytes, so that the size and the processors do not count.
  private static func sources(of request: ImageRequest, _ loader: any ImageLoading) -> [Source] {
    (request.alternatives ?? [request]).map { Source(loader: ObjectIdentifier(loader), key: $0.fetchKey) }
  }
}
