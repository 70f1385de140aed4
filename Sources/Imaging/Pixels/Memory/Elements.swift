import VitrineRuntime

/// Elements in borrowed memory, read with checks of the bounds in every build.
///
/// The checks of `UnsafeBufferPointer` are there in debug builds only. A span cannot be stored, and its vectors are
/// loaded without the safe kind of call. The caller that makes one keeps the memory for as long as it is used.
@safe
package struct Elements<Element: BitwiseCopyable>: BitwiseCopyable {
  // In bounds by the checks below. Never nil with a count above 0.
  let start: UnsafePointer<Element>?
  package let count: Int

  /// Borrows memory, which its owner keeps and does not write in the meantime.
  package init(_ buffer: UnsafeBufferPointer<Element>) {
    unsafe start = buffer.baseAddress
    count = buffer.count
  }

  @inline(__always)
  package subscript(index: Int) -> Element {
    precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "no such element")
    return unsafe start.unsafelyUnwrapped[index]
  }

  package var indices: Range<Int> { 0..<count }

  /// A copy of the elements.
  package var array: [Element] { unsafe Array(UnsafeBufferPointer(start: start, count: count)) }

  /// The elements at `bounds`, which are counted from 0 in the result.
  @inline(__always)
  package func extracting(_ bounds: Range<Int>) -> Elements {
    precondition(bounds.lowerBound >= 0 && bounds.upperBound <= count, "no such elements")
    let part = unsafe UnsafeBufferPointer(start: start.map { unsafe $0 + bounds.lowerBound }, count: bounds.count)
    return unsafe Elements(part)
  }

  /// Calls `body` with the memory, for a library in C or a loop that has checked its bounds itself.
  @inline(__always)
  package func withUnsafeBufferPointer<R, E: Error>(
    _ body: (UnsafeBufferPointer<Element>) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeBufferPointer(start: start, count: count))
  }
}

extension Elements<UInt8> {
  package init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(bytes.assumingMemoryBound(to: UInt8.self))
  }

  /// Returns the index of the first `byte` within `bounds`; `nil` if there is none.
  package func firstIndex(of byte: UInt8, in bounds: Range<Int>) -> Int? {
    unsafe extracting(bounds).withUnsafeBufferPointer { part -> Int? in
      guard let first = unsafe UnsafeRawPointer(part.baseAddress) else { return nil }
      let found = unsafe memchr(first, Int32(byte), part.count)
      return unsafe found.map { unsafe bounds.lowerBound + (UnsafeRawPointer($0) - first) }
    }
  }
}

extension Elements where Element: SIMDScalar {
  /// The four elements from `index` on.
  @inline(__always)
  package func four(at index: Int) -> SIMD4<Element> {
    precondition(index >= 0 && index <= count &- 4, "no such elements")
    return unsafe UnsafeRawPointer(start.unsafelyUnwrapped + index).loadUnaligned(as: SIMD4<Element>.self)
  }

  /// The sixteen elements from `index` on.
  @inline(__always)
  package func sixteen(at index: Int) -> SIMD16<Element> {
    precondition(index >= 0 && index <= count &- 16, "no such elements")
    return unsafe UnsafeRawPointer(start.unsafelyUnwrapped + index).loadUnaligned(as: SIMD16<Element>.self)
  }
}

/// Elements in borrowed memory, read and written with checks of the bounds in every build.
///
/// It refers to the memory, as a class would: a copy refers to the same elements. The caller that makes one keeps
/// the memory for as long as it is used, and one thread at a time writes an element.
@safe
package struct MutableElements<Element: BitwiseCopyable>: BitwiseCopyable {
  // In bounds by the checks below. Never nil with a count above 0.
  let start: UnsafeMutablePointer<Element>?
  package let count: Int

  /// Borrows memory, which its owner keeps and does not use in the meantime.
  package init(_ buffer: UnsafeMutableBufferPointer<Element>) {
    unsafe start = buffer.baseAddress
    count = buffer.count
  }

  @inline(__always)
  package subscript(index: Int) -> Element {
    get {
      precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "no such element")
      return unsafe start.unsafelyUnwrapped[index]
    }
    nonmutating set {
      precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "no such element")
      unsafe start.unsafelyUnwrapped[index] = newValue
    }
  }

  package var indices: Range<Int> { 0..<count }

  /// The same elements, to be read only.
  @inline(__always)
  package var elements: Elements<Element> { unsafe Elements(UnsafeBufferPointer(start: start, count: count)) }

  /// The elements at `bounds`, which are counted from 0 in the result.
  @inline(__always)
  package func extracting(_ bounds: Range<Int>) -> MutableElements {
    precondition(bounds.lowerBound >= 0 && bounds.upperBound <= count, "no such elements")
    let first = unsafe start.map { unsafe $0 + bounds.lowerBound }
    return unsafe MutableElements(UnsafeMutableBufferPointer(start: first, count: bounds.count))
  }

  package func update(repeating value: Element) {
    unsafe UnsafeMutableBufferPointer(start: start, count: count).update(repeating: value)
  }

  /// Copies `source` to the beginning; the two may overlap.
  package func update(from source: Elements<Element>) {
    precondition(source.count <= count, "no room for the elements")
    unsafe source.withUnsafeBufferPointer {
      // What is in its place already, as the pixels of a worker are, costs nothing.
      guard let first = $0.baseAddress, unsafe first != UnsafePointer(start) else { return }
      unsafe start?.update(from: first, count: $0.count)
    }
  }

  /// Calls `body` with the memory, for a library in C or a loop that has checked its bounds itself.
  @inline(__always)
  package func withUnsafeBufferPointer<R, E: Error>(
    _ body: (UnsafeMutableBufferPointer<Element>) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeMutableBufferPointer(start: start, count: count))
  }
}

extension MutableElements<UInt8> {
  package init(_ bytes: UnsafeMutableRawBufferPointer) {
    unsafe self.init(bytes.assumingMemoryBound(to: UInt8.self))
  }
}

extension MutableElements where Element: SIMDScalar {
  /// The four elements from `index` on.
  @inline(__always)
  package func four(at index: Int) -> SIMD4<Element> { elements.four(at: index) }

  /// The sixteen elements from `index` on.
  @inline(__always)
  package func sixteen(at index: Int) -> SIMD16<Element> { elements.sixteen(at: index) }

  @inline(__always)
  package func store(_ values: SIMD4<Element>, at index: Int) {
    precondition(index >= 0 && index <= count &- 4, "no room for the elements")
    unsafe UnsafeMutableRawPointer(start.unsafelyUnwrapped + index).storeBytes(of: values, as: SIMD4<Element>.self)
  }

  @inline(__always)
  package func store(_ values: SIMD16<Element>, at index: Int) {
    precondition(index >= 0 && index <= count &- 16, "no room for the elements")
    unsafe UnsafeMutableRawPointer(start.unsafelyUnwrapped + index).storeBytes(of: values, as: SIMD16<Element>.self)
  }
}

/// Memory for elements, allocated once, aligned to a cache line and freed with its owner.
@safe
package final class OwnedElements<Element: BitwiseCopyable> {
  // Owned: allocated in init, freed in deinit.
  private let memory: UnsafeMutableBufferPointer<Element>

  package init(repeating value: Element, count: Int) {
    let bytes = UnsafeMutableRawBufferPointer.allocate(
      byteCount: count * MemoryLayout<Element>.stride,
      alignment: 64,
    )
    unsafe memory = bytes.initializeMemory(as: Element.self, repeating: value)
  }

  deinit { unsafe UnsafeMutableRawPointer(memory.baseAddress)?.deallocate() }

  /// The elements, valid while this object lives.
  @inline(__always)
  package var elements: MutableElements<Element> { unsafe MutableElements(memory) }
}
