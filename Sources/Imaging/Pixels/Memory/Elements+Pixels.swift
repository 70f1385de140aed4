// Pixels and their loops. A loop checks its range once: a check for each vector costs a short loop a third of its time.
extension Elements<UInt8> {
  /// The bytes of `count` rows of `width` pixels without gaps, from the row `first` on.
  package func rows(from first: Int, count: Int, width: Int) -> Elements<UInt8> {
    extracting(first * width * 4..<(first + count) * width * 4)
  }

  /// The number whose bytes begin at `index`.
  @inline(__always)
  package func load<Number: FixedWidthInteger & BitwiseCopyable>(at index: Int, as type: Number.Type) -> Number {
    precondition(index >= 0 && index <= count &- MemoryLayout<Number>.size, "no such elements")
    // In bounds by the line above.
    return unsafe UnsafeRawPointer(start.unsafelyUnwrapped).loadUnaligned(fromByteOffset: index, as: Number.self)
  }
}

extension MutableElements<UInt8> {
  /// The bytes of `count` rows of `width` pixels without gaps, from the row `first` on.
  package func rows(from first: Int, count: Int, width: Int) -> MutableElements<UInt8> {
    extracting(first * width * 4..<(first + count) * width * 4)
  }

  /// Copies rows without gaps to rows that begin `bytesPerRow` apart.
  package func update(rows count: Int, of source: Elements<UInt8>, bytesPerRow: Int) {
    let length = source.count / count
    update(rows: count, of: source, apart: length, length: length, bytesPerRow: bytesPerRow)
  }

  /// Copies rows of `length` bytes, which begin `apart` bytes apart, to rows that begin `bytesPerRow` apart.
  package func update(
    rows count: Int,
    of source: Elements<UInt8>,
    apart: Int,
    length: Int,
    bytesPerRow: Int,
  ) {
    for row in 0..<count {
      extracting(row * bytesPerRow..<row * bytesPerRow + length)
        .update(from: source.extracting(row * apart..<row * apart + length))
    }
  }

  /// Calls `body` with the memory, for a library in C or a decoder that checks the bounds itself.
  package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeMutableRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBufferPointer { (bytes) throws(E) in try unsafe body(UnsafeMutableRawBufferPointer(bytes)) }
  }

  @inline(__always)
  package func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at index: Int) {
    precondition(index >= 0 && index <= count &- MemoryLayout<Number>.size, "no room for the elements")
    // In bounds by the line above.
    unsafe UnsafeMutableRawPointer(start.unsafelyUnwrapped).storeBytes(
      of: number,
      toByteOffset: index,
      as: Number.self,
    )
  }

  /// Replaces each pixel of four bytes.
  @inline(__always)
  package func updateEachPixel(_ change: (SIMD4<UInt8>) -> SIMD4<UInt8>) {
    precondition(count & 3 == 0, "a part of a pixel")
    guard let start = unsafe UnsafeMutableRawPointer(start) else { return }
    // In bounds: four bytes are left.
    for index in stride(from: 0, to: count, by: 4) {
      let pixel = unsafe change(start.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt8>.self))
      unsafe start.storeBytes(of: pixel, toByteOffset: index, as: SIMD4<UInt8>.self)
    }
  }

  /// Writes numbers of `source`, one after the other: those at `first`, and then `step` numbers further each time.
  func update<Number: FixedWidthInteger & BitwiseCopyable>(
    of source: Elements<UInt8>,
    from first: Int,
    step: Int,
    as type: Number.Type,
  ) {
    let (size, most) = (MemoryLayout<Number>.size, source.count / MemoryLayout<Number>.size)
    let last = first + (count / size - 1) * step
    precondition(count % size == 0 && (count == 0 || (0..<most ~= first && 0..<most ~= last)), "no such elements")
    guard let source = unsafe UnsafeRawPointer(source.start), let start = unsafe UnsafeMutableRawPointer(start) else {
      return
    }
    var place = first &* size
    // In bounds: the first place and the last are.
    for index in stride(from: 0, to: count, by: size) {
      let number = unsafe source.loadUnaligned(fromByteOffset: place, as: Number.self)
      unsafe start.storeBytes(of: number, toByteOffset: index, as: Number.self)
      place &+= step &* size
    }
  }
}

extension MutableElements<UInt32> {
  /// Replaces each element by the result of `change` for the number in little-endian bytes at its place.
  @inline(__always)
  func update(numbers bytes: Elements<UInt8>, _ change: (UInt32) -> UInt32) {
    precondition(bytes.count == 4 * count, "another number of elements")
    guard let bytes = unsafe UnsafeRawPointer(bytes.start), let start = unsafe start else { return }
    // In bounds by the first line.
    for index in 0..<count {
      let number = unsafe bytes.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self)
      unsafe start[index] = change(UInt32(littleEndian: number))
    }
  }
}

// Without closures around the loops, so that `change` becomes a part of them.
extension MutableElements where Element: SIMDScalar {
  /// Replaces elements, four at a time, by the results of `change` for the elements of `source` at the same places and
  /// the old elements.
  ///
  /// `source` has as many; the elements from `first` on are a multiple of four. It may be the same memory.
  @inline(__always)
  package func update<Source: SIMDScalar>(
    with source: Elements<Source>,
    from first: Int = 0,
    four change: (SIMD4<Source>, SIMD4<Element>) -> SIMD4<Element>,
  ) {
    precondition(source.count == count && first >= 0 && (count &- first) & 3 == 0, "another number of elements")
    guard let source = unsafe source.start, let start = unsafe start else { return }
    var index = first
    // In bounds: both have `count` elements, and four are left.
    while index < count {
      let target = unsafe UnsafeMutableRawPointer(start + index)
      let old = unsafe target.loadUnaligned(as: SIMD4<Element>.self)
      let new = unsafe change(UnsafeRawPointer(source + index).loadUnaligned(as: SIMD4<Source>.self), old)
      unsafe target.storeBytes(of: new, as: SIMD4<Element>.self)
      index &+= 4
    }
  }

  /// Replaces elements as ``update(with:from:four:)`` does, sixteen at a time as far as possible.
  @inline(__always)
  package func update<Source: SIMDScalar>(
    with source: Elements<Source>,
    sixteen change: (SIMD16<Source>, SIMD16<Element>) -> SIMD16<Element>,
    four: (SIMD4<Source>, SIMD4<Element>) -> SIMD4<Element>,
  ) {
    precondition(source.count == count && count & 3 == 0, "another number of elements")
    let end = count & ~15
    if let source = unsafe source.start, let start = unsafe start {
      var index = 0
      // In bounds: both have `count` elements, and sixteen are left.
      while index < end {
        let target = unsafe UnsafeMutableRawPointer(start + index)
        let old = unsafe target.loadUnaligned(as: SIMD16<Element>.self)
        let new = unsafe change(UnsafeRawPointer(source + index).loadUnaligned(as: SIMD16<Source>.self), old)
        unsafe target.storeBytes(of: new, as: SIMD16<Element>.self)
        index &+= 16
      }
    }
    update(with: source, from: end, four: four)
  }
}

extension Elements where Element: SIMDScalar {
  /// Calls `body` with the elements of `range`, whose length is a multiple of four, four at a time.
  @inline(__always)
  func forEachFour(in range: Range<Int>, _ body: (SIMD4<Element>) -> Void) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count && range.count & 3 == 0, "no such elements")
    guard let start = unsafe start else { return }
    var index = range.lowerBound
    // In bounds by the first line.
    while index < range.upperBound {
      unsafe body(UnsafeRawPointer(start + index).loadUnaligned(as: SIMD4<Element>.self))
      index &+= 4
    }
  }
}

extension Array where Element: BitwiseCopyable {
  /// Calls `body` with the elements, for loops that check the range of a table once; they are valid until it returns.
  @inline(__always)
  func withElements<R, E: Error>(_ body: (Elements<Element>) throws(E) -> R) throws(E) -> R {
    try unsafe withUnsafeBufferPointer { (elements) throws(E) in try unsafe body(Elements(elements)) }
  }
}

extension SIMD4<Float> {
  /// The bits of each number.
  @inline(__always)
  var bits: SIMD4<UInt32> {
    // Four floats and four integers of 32 bits have the same size.
    unsafe unsafeBitCast(self, to: SIMD4<UInt32>.self)
  }
}
