/// The index of a ``Table``: a number of bits.
protocol TableIndex {
  static var bits: Int { get }
}

/// The next bits of entropy-coded data.
enum WindowIndex: TableIndex {
  static var bits: Int { HuffmanTable.lookupBits }
}

/// A coefficient, possibly beyond its block.
enum CoefficientIndex: TableIndex {
  static var bits: Int { 8 }
}

/// A table in memory that another object owns, with an element for each value of its index.
///
/// An index loses the bits that are too many, so that none is out of bounds and nothing need be checked. The code that
/// makes one keeps the memory for as long as it is used.
@safe
struct Table<Index: TableIndex, Element: BitwiseCopyable>: BitwiseCopyable {
  static var count: Int { 1 &<< Index.bits }

  // In bounds by the check of the initialiser and the mask.
  private let start: UnsafeMutablePointer<Element>

  init(_ elements: MutableElements<Element>) {
    precondition(elements.count == Self.count, "not one element for each index")
    unsafe start = elements.withUnsafeBufferPointer { unsafe $0.baseAddress.unsafelyUnwrapped }
  }

  @inline(__always)
  subscript(index: Int) -> Element {
    get { unsafe start[index & (Self.count &- 1)] }
    nonmutating set { unsafe start[index & (Self.count &- 1)] = newValue }
  }

  /// The elements in order of their indices.
  @inline(__always)
  var elements: Elements<Element> { unsafe Elements(UnsafeBufferPointer(start: start, count: Self.count)) }
}

extension Table where Element: ExpressibleByIntegerLiteral {
  @inline(__always)
  func clear() { for index in 0..<Self.count { self[index] = 0 } }
}

/// A table that owns its memory.
final class Lookup<Index: TableIndex, Entry: BitwiseCopyable> {
  private let memory: OwnedElements<Entry>
  /// The entries, valid while this object lives.
  let entries: Table<Index, Entry>

  init(repeating value: Entry) {
    memory = OwnedElements(repeating: value, count: Table<Index, Entry>.count)
    entries = Table(memory.elements)
  }

  convenience init(_ make: (Int) -> Entry) {
    self.init(repeating: make(0))
    for index in 1..<Table<Index, Entry>.count { entries[index] = make(index) }
  }

  subscript(index: Int) -> Entry { entries[index] }
}
