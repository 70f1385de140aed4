/// Decides which entries leave a full ``MemoryCache``.
///
/// The cache numbers the places that it keeps entries in, from 0 on, and reuses numbers. It tells the policy what enters
/// and what leaves, and asks it when something must leave. A hit calls no policy: the cache notes itself when and how
/// often an entry was used, and the policy reads that in time.
///
/// All three are called with the cache's lock held: a policy needs none of its own, and must not call out.
public protocol EvictionPolicy: AnyObject {
  /// An entry was put into a place, which was empty or has just been used by an older entry of the same key.
  func insert(_ entry: EvictionCandidate, into place: Int)

  /// A place was emptied, for whatever reason, of those in ``victims(freeing:count:among:)`` too.
  func remove(_ place: Int)

  /// Returns places whose entries leave, in the order in which they leave.
  ///
  /// They are emptied one after the other until at least `cost` bytes and `count` entries are gone. To return fewer than
  /// that takes is no error; the cache then falls back on those that were used least recently.
  func victims(freeing cost: Int, count: Int, among candidates: EvictionCandidates) -> [Int]
}
