/// Decides which entries leave a full ``MemoryCache``.
///
/// The cache numbers the places that it keeps entries in, from 0 on, and reuses numbers. It tells the policy what enters
/// and what leaves, and asks it when something must leave. A hit calls no policy: the cache notes itself when and how
/// often an entry was used, and the policy reads that in time.
///
/// A policy of your own is called once at a time and in the order in which things happened, with no lock held: it needs none
/// of its own, and may call the cache. It hears of a change when that is made, or, while another thread calls it or it is calling
/// the cache itself, soon after; an entry that comes and goes in between it does not hear of. While it takes its time the cache
/// exceeds its limit by an eighth at most.
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
