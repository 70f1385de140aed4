/// The result of ``DiskCache/verify()``: the number of entries read, and the keys of damaged entries, which were dropped.
///
/// `nil` stands for a key that is damaged itself.
package typealias DiskVerification = (checked: Int, damaged: [CacheKey?])
