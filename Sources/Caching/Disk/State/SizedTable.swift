/// A number for each of two groups, such as the lanes.
struct PerGroup: Sendable, Hashable {
  private var first = 0
  private var second = 0

  var sum: Int { first + second }

  subscript(group: Int) -> Int {
    get { group == 0 ? first : second }
    set { if group == 0 { first = newValue } else { second = newValue } }
  }
}

/// A file on disk that counts towards one of two groups.
protocol SizedFile: Sendable {
  var size: Int { get }
  /// 0 or 1.
  var group: Int { get }
}

/// Files by number, with the total size of each group.
///
/// The sums are maintained and not computed. A cache of 50 GB has thousands of files, and the sums are read under the
/// lock, for which readers wait.
///
/// - Complexity: O(1) for the sums and for each change.
struct SizedTable<Number: Hashable & Sendable, File: SizedFile>: Sendable {
  private var files: [Number: File] = [:]
  /// The bytes of each group.
  private(set) var bytes = PerGroup()
  /// The number of files of each group.
  private(set) var counts = PerGroup()

  init() {}

  var count: Int { files.count }
  var isEmpty: Bool { files.isEmpty }
  var keys: some Collection<Number> { files.keys }
  var values: some Collection<File> { files.values }

  subscript(number: Number) -> File? {
    get { files[number] }
    set {
      let old = files[number]
      files[number] = newValue
      if let old { count(old, by: -1) }
      if let newValue { count(newValue, by: 1) }
    }
  }

  /// Removes the files for which `isKept` returns `false`.
  mutating func filter(_ isKept: (Number) -> Bool) {
    for number in Array(files.keys) where !isKept(number) { self[number] = nil }
  }

  private mutating func count(_ file: File, by sign: Int) {
    bytes[file.group] += sign * file.size
    counts[file.group] += sign
  }
}
