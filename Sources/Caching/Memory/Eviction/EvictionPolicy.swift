/// A policy that decides which entries leave a full ``MemoryCache``.
///
/// The cache keeps its entries in places numbered from 0, and reuses the numbers. It reports to the policy what enters
/// and leaves, and asks it when something must leave. A hit calls no policy: the cache itself records when and how
/// often each entry was used, and the policy reads that when it is asked.
///
/// Calls to a custom policy are serialised, in the order of events, with no lock held. The policy needs no lock of its
/// own and may call the cache. It learns of a change when the change is made. If another thread is in the policy, or
/// the policy itself is calling the cache, it learns soon after. It does not learn of an entry that came and went in
/// between. While a policy takes its time, the cache exceeds its limit by at most an eighth.
public protocol EvictionPolicy: AnyObject {
  /// Records an entry that was put into a place, which was empty or held an older entry of the same key.
  func insert(_ entry: EvictionCandidate, into place: Int)

  /// Records that a place was emptied for any reason, including those from ``victims(freeing:count:among:)``.
  func remove(_ place: Int)

  /// Returns the places whose entries should leave, in that order.
  ///
  /// The cache empties them one by one until at least `cost` bytes and `count` entries are gone. Returning too few is
  /// no error: the cache then evicts the least recently used.
  func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int]
}
