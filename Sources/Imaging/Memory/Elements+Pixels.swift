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
    return unsafe withUnsafeBufferPointer {
      unsafe UnsafeRawPointer($0.baseAddress.unsafelyUnwrapped + index).loadUnaligned(as: Number.self)
    }
  }
}

extension MutableElements<UInt8> {
  /// The bytes of `count` rows of `width` pixels without gaps, from the row `first` on.
  package func rows(from first: Int, count: Int, width: Int) -> MutableElements<UInt8> {
    extracting(first * width * 4..<(first + count) * width * 4)
  }

  /// Copies rows without gaps to rows that begin `bytesPerRow` apart.
  func update(rows count: Int, of source: Elements<UInt8>, bytesPerRow: Int) {
    let length = source.count / count
    for row in 0..<count {
      extracting(row * bytesPerRow..<row * bytesPerRow + length)
        .update(from: source.extracting(row * length..<(row + 1) * length))
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
    unsafe withUnsafeBufferPointer {
      unsafe UnsafeMutableRawPointer($0.baseAddress.unsafelyUnwrapped + index).storeBytes(of: number, as: Number.self)
    }
  }

  /// Replaces each pixel of four bytes.
  @inline(__always)
  package func updateEachPixel(_ change: (SIMD4<UInt8>) -> SIMD4<UInt8>) {
    update(with: elements) { pixel, _ in change(pixel) }
  }
}

extension MutableElements<UInt8> {
  /// Copies numbers of `source`, which has as many bytes, the last one first.
  func update<Number: FixedWidthInteger & BitwiseCopyable>(reversing source: Elements<UInt8>, of type: Number.Type) {
    let size = MemoryLayout<Number>.size
    precondition(source.count == count && count % size == 0, "another number of elements")
    unsafe withUnsafeBufferPointer { target in
      unsafe source.withUnsafeBufferPointer { source in
        let (target, source) = (UnsafeMutableRawBufferPointer(target), UnsafeRawBufferPointer(source))
        // In bounds by the check of both lengths.
        for index in stride(from: 0, to: count, by: size) {
          let number = unsafe source.loadUnaligned(fromByteOffset: index, as: Number.self)
          unsafe target.storeBytes(of: number, toByteOffset: count &- size &- index, as: Number.self)
        }
      }
    }
  }
}

extension MutableElements<UInt32> {
  /// Replaces each element by what `change` makes of the number in little-endian bytes at its place.
  @inline(__always)
  func update(numbers bytes: Elements<UInt8>, _ change: (UInt32) -> UInt32) {
    precondition(bytes.count == 4 * count, "another number of elements")
    unsafe withUnsafeBufferPointer { target in
      unsafe bytes.withUnsafeBufferPointer { bytes in
        // In bounds by the first line.
        for index in 0..<count {
          let bytes = unsafe UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self)
          unsafe target[index] = change(UInt32(littleEndian: bytes))
        }
      }
    }
  }
}

extension MutableElements where Element: SIMDScalar {
  /// Replaces elements, four at a time, by what `change` makes of those of `source` at the same places and of the old ones.
  ///
  /// `source` has as many, a multiple of four; it may be the same memory.
  @inline(__always)
  package func update<Source: SIMDScalar>(
    with source: Elements<Source>,
    from first: Int = 0,
    four change: (SIMD4<Source>, SIMD4<Element>) -> SIMD4<Element>,
  ) {
    unsafe withPointers(to: source, from: first) { source, target in
      var index = first
      // In bounds: both have `count` elements, and four are left.
      while index < count {
        let target = unsafe UnsafeMutableRawPointer(target + index)
        let old = unsafe target.loadUnaligned(as: SIMD4<Element>.self)
        let new = unsafe change(UnsafeRawPointer(source + index).loadUnaligned(as: SIMD4<Source>.self), old)
        unsafe target.storeBytes(of: new, as: SIMD4<Element>.self)
        index &+= 4
      }
    }
  }

  /// Replaces elements as ``update(with:from:four:)`` does, sixteen at a time as far as possible.
  @inline(__always)
  package func update<Source: SIMDScalar>(
    with source: Elements<Source>,
    sixteen change: (SIMD16<Source>, SIMD16<Element>) -> SIMD16<Element>,
    four: (SIMD4<Source>, SIMD4<Element>) -> SIMD4<Element>,
  ) {
    let end = count & ~15
    unsafe withPointers(to: source, from: 0) { source, target in
      var index = 0
      // In bounds: both have `count` elements, and sixteen are left.
      while index < end {
        let target = unsafe UnsafeMutableRawPointer(target + index)
        let old = unsafe target.loadUnaligned(as: SIMD16<Element>.self)
        let new = unsafe change(UnsafeRawPointer(source + index).loadUnaligned(as: SIMD16<Source>.self), old)
        unsafe target.storeBytes(of: new, as: SIMD16<Element>.self)
        index &+= 16
      }
    }
    update(with: source, from: end, four: four)
  }

  /// Calls `body` with both memories, which have `count` elements; those from `first` on are a multiple of four.
  @inline(__always)
  private func withPointers<Source>(
    to source: Elements<Source>,
    from first: Int,
    _ body: (UnsafePointer<Source>, UnsafeMutablePointer<Element>) -> Void,
  ) {
    precondition(source.count == count && first >= 0 && (count &- first) & 3 == 0, "another number of elements")
    unsafe source.withUnsafeBufferPointer { source in
      unsafe withUnsafeBufferPointer { target in
        if let source = source.baseAddress, let target = target.baseAddress { unsafe body(source, target) }
      }
    }
  }
}

extension Elements where Element: SIMDScalar {
  /// Calls `body` with the elements of `range`, whose length is a multiple of four, four at a time.
  @inline(__always)
  func forEachFour(in range: Range<Int>, _ body: (SIMD4<Element>) -> Void) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count && range.count & 3 == 0, "no such elements")
    unsafe withUnsafeBufferPointer { elements in
      guard let start = elements.baseAddress else { return }
      var index = range.lowerBound
      // In bounds by the first line.
      while index < range.upperBound {
        unsafe body(UnsafeRawPointer(start + index).loadUnaligned(as: SIMD4<Element>.self))
        index &+= 4
      }
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

extension RowSource {
  /// Reads rows into memory whose bounds are checked.
  func read(into rows: MutableElements<UInt8>, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    precondition(count > 0 && rows.count >= bytesPerRow * (count - 1) + 4 * width, "no room for the rows")
    // As much room as a source may use, by the line above.
    return try unsafe rows.withUnsafeBufferPointer { (rows) throws(ImageError) in
      try unsafe read(into: UnsafeMutableRawBufferPointer(rows), bytesPerRow: bytesPerRow, count: count)
    }
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
