/// The meaning of a pixel's four bytes while it is resampled.
enum PixelLayout {
  /// Three colours and a byte that is 255.
  case color
  /// Three colours and straight coverage.
  case colorAndAlpha
  /// Four inks.
  case ink
}

/// Rows to be added, by their addresses, as the kernels in C take them.
@safe
final class RowTable<Element: BitwiseCopyable> {
  /// The number of elements of each row.
  let rowLength: Int
  // Each of `rowLength` elements, by the check of `fill`, whose owner keeps them while they are used.
  private var addresses: [UnsafeRawPointer?]

  init(rowLength: Int) {
    self.rowLength = rowLength
    unsafe addresses = []
  }

  /// Replaces the rows by the rows that `row` returns for `places`.
  @inline(__always)
  func fill(_ places: Range<Int>, _ row: (Int) -> Elements<Element>) {
    unsafe addresses.removeAll(keepingCapacity: true)
    for place in places {
      let row = row(place)
      precondition(row.count >= rowLength, "a row is too short")
      unsafe row.withUnsafeBufferPointer { unsafe addresses.append(UnsafeRawPointer($0.baseAddress)) }
    }
  }

  /// Calls `body` with the addresses of the rows, as many weights, and a line of at least `rowLength` elements.
  @inline(__always)
  func withPointers<Weight>(
    _ weights: ArraySlice<Weight>,
    _ line: MutableElements<Weight>,
    _ body: (UnsafePointer<UnsafeRawPointer?>, UnsafePointer<Weight>, UnsafeMutablePointer<Weight>) -> Void,
  ) {
    precondition(unsafe weights.count == addresses.count && line.count >= rowLength && rowLength & 3 == 0)
    unsafe addresses.withUnsafeBufferPointer { rows in
      unsafe weights.withUnsafeBufferPointer { weights in
        unsafe line.withUnsafeBufferPointer { line in
          guard let rows = rows.baseAddress, let weights = weights.baseAddress, let line = line.baseAddress else {
            return
          }
          unsafe body(rows, weights, line)
        }
      }
    }
  }
}

/// A ring of the most recent rows, as many as a filter needs.
final class RowRing<Element: BitwiseCopyable & AdditiveArithmetic> {
  private let capacity: Int
  private let memory: OwnedElements<Element>
  private let table: RowTable<Element>

  /// Makes a ring of `capacity` rows of `count` elements.
  init(capacity: Int, count: Int) {
    self.capacity = capacity
    memory = OwnedElements(repeating: .zero, count: capacity * count)
    table = RowTable(rowLength: count)
  }

  /// Returns the memory of a row, which replaces the row `capacity` rows before it.
  func row(_ index: Int) -> MutableElements<Element> {
    let start = index % capacity * table.rowLength
    return memory.elements.extracting(start..<start + table.rowLength)
  }

  /// Returns the rows from `first`, of which there are at most `capacity`, until the next call.
  func rows(from first: Int, count: Int) -> RowTable<Element> {
    precondition(count <= capacity)
    table.fill(first..<first + count) { row($0).elements }
    return table
  }
}
