/// The meaning of a pixel's four bytes while it is resampled.
enum PixelLayout {
  /// Three colours and a byte that is 255.
  case color
  /// Three colours and straight coverage.
  case colorAndAlpha
  /// Four inks.
  case ink
}

/// Floats allocated once and freed with their owner.
@safe
final class FloatRow {
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  let pointer: UnsafeMutablePointer<Float>
  private let count: Int

  init(count: Int) {
    self.count = count
    unsafe pointer = .allocate(capacity: count)
    unsafe pointer.initialize(repeating: 0, count: count)
  }

  deinit { unsafe pointer.deallocate() }

  func clear() { unsafe pointer.update(repeating: 0, count: count) }
}

/// Sums of bytes.
@safe
final class WideRow {
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  let pointer: UnsafeMutablePointer<UInt32>
  private let count: Int

  init(count: Int) {
    self.count = count
    unsafe pointer = .allocate(capacity: count)
    unsafe pointer.initialize(repeating: 0, count: count)
  }

  deinit { unsafe pointer.deallocate() }

  func clear() { unsafe pointer.update(repeating: 0, count: count) }
}

/// A row of four bytes a pixel.
@safe
final class PixelRow {
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  let pointer: UnsafeMutableRawPointer
  private let count: Int

  init(count: Int) {
    self.count = count
    unsafe pointer = .allocate(byteCount: count * 4, alignment: 16)
  }

  deinit { unsafe pointer.deallocate() }

  var bytes: UnsafeMutableRawBufferPointer { unsafe UnsafeMutableRawBufferPointer(start: pointer, count: count * 4) }
}

/// A ring of the most recent rows, as many as a filter needs.
@safe
final class RowRing {
  let element: PixelKernels.Element
  private let capacity: Int
  private let bytesPerRow: Int
  // Owned: allocated in init, freed in deinit, used by one thread at a time.
  private let memory: UnsafeMutableRawPointer
  private let order: UnsafeMutablePointer<UnsafeRawPointer?>

  /// Makes a ring of `capacity` rows of `count` elements.
  init(capacity: Int, count: Int, element: PixelKernels.Element) {
    self.element = element
    self.capacity = capacity
    bytesPerRow = count * element.size
    unsafe memory = .allocate(byteCount: capacity * bytesPerRow, alignment: 64)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: capacity * bytesPerRow)
    unsafe order = .allocate(capacity: capacity)
    unsafe order.initialize(repeating: nil, count: capacity)
  }

  deinit {
    unsafe memory.deallocate()
    unsafe order.deallocate()
  }

  /// Returns the memory of a row, which replaces the row `capacity` rows before it.
  func row(_ index: Int) -> UnsafeMutableRawPointer {
    // The remainder keeps it in bounds.
    unsafe memory + index % capacity * bytesPerRow
  }

  /// Returns the memory of the rows from `first`, of which there are at most `capacity`.
  func rows(from first: Int, count: Int) -> UnsafeMutablePointer<UnsafeRawPointer?> {
    precondition(count <= capacity)
    // `count` entries are within the table by the line above.
    for index in 0..<count { unsafe order[index] = UnsafeRawPointer(row(first + index)) }
    return unsafe order
  }
}
