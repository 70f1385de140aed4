import CVitrineKernels

// The filter along columns: adding weighted rows, element by element.
extension PixelKernels {
  /// Adds weighted rows of bytes; there are as many weights as rows.
  func combine(_ rows: RowTable<UInt8>, weights: ArraySlice<Float>, into line: MutableElements<Float>) {
    let (taps, count, whole) = (weights.count, rows.rowLength, rows.rowLength & ~15)
    // The table checks the lengths of rows, weights and line.
    unsafe rows.withPointers(weights, line) { rows, weights, line in
      if isNative { return unsafe vitrine_combine_bytes(rows, weights, taps, line, count) }
      unsafe Self.add(rows, weights, taps, line, 0..<whole, SIMD16<Float>()) {
        $0 += SIMD16<Float>($1 as SIMD16<UInt8>) * $2
      } finish: {
        $0
      }
      unsafe Self.add(rows, weights, taps, line, whole..<count, SIMD4<Float>()) {
        $0 += SIMD4<Float>($1 as SIMD4<UInt8>) * $2
      } finish: {
        $0
      }
    }
  }

  /// Adds weighted rows of floats; there are as many weights as rows.
  func combine(_ rows: RowTable<Float>, weights: ArraySlice<Float>, into line: MutableElements<Float>) {
    let (taps, count, whole) = (weights.count, rows.rowLength, rows.rowLength & ~15)
    // The table checks the lengths of rows, weights and line.
    unsafe rows.withPointers(weights, line) { rows, weights, line in
      if isNative { return unsafe vitrine_combine_floats(rows, weights, taps, line, count) }
      unsafe Self.add(rows, weights, taps, line, 0..<whole, SIMD16<Float>()) {
        $0 += ($1 as SIMD16<Float>) * $2
      } finish: {
        $0
      }
      unsafe Self.add(rows, weights, taps, line, whole..<count, SIMD4<Float>()) {
        $0 += ($1 as SIMD4<Float>) * $2
      } finish: {
        $0
      }
    }
  }

  /// Adds weighted rows of numbers of 16 bits and divides by 16,384; there are as many weights as rows, an even number.
  ///
  /// Elements are at least 0, and the weights add up to 16,384 at most.
  func combine(_ rows: RowTable<Int16>, weights: ArraySlice<Int16>, into line: MutableElements<Int16>) {
    precondition(weights.count % 2 == 0)
    let (taps, count, whole) = (weights.count, rows.rowLength, rows.rowLength & ~15)
    // The table checks the lengths of rows, weights and line.
    unsafe rows.withPointers(weights, line) { rows, weights, line in
      if isNative { return unsafe vitrine_combine_shorts(rows, weights, taps, line, count) }
      unsafe Self.add(rows, weights, taps, line, 0..<whole, SIMD16<Int32>(repeating: 1 << 13)) {
        $0 &+= SIMD16<Int32>(truncatingIfNeeded: $1 as SIMD16<Int16>) &* Int32($2)
      } finish: {
        SIMD16<Int16>(truncatingIfNeeded: $0 &>> 14)
      }
      unsafe Self.add(rows, weights, taps, line, whole..<count, SIMD4<Int32>(repeating: 1 << 13)) {
        $0 &+= SIMD4<Int32>(truncatingIfNeeded: $1 as SIMD4<Int16>) &* Int32($2)
      } finish: {
        SIMD4<Int16>(truncatingIfNeeded: $0 &>> 14)
      }
    }
  }

  /// Adds the elements of `range`, whose length is a multiple of the vectors' `Row` and `Line`.
  ///
  /// The caller has checked that there are `taps` rows and weights, and that rows and line go as far as the range.
  @inline(__always)
  private static func add<Row: BitwiseCopyable, Line: BitwiseCopyable, Weight, Sum>(
    _ rows: UnsafePointer<UnsafeRawPointer?>,
    _ weights: UnsafePointer<Weight>,
    _ taps: Int,
    _ line: UnsafeMutablePointer<Weight>,
    _ range: Range<Int>,
    _ start: Sum,
    add: (inout Sum, Row, Weight) -> Void,
    finish: (Sum) -> Line,
  ) {
    let width = MemoryLayout<Line>.size / MemoryLayout<Weight>.size
    let size = MemoryLayout<Row>.size / width
    var index = range.lowerBound
    while index < range.upperBound {
      var sum = start
      for tap in 0..<taps {
        guard let row = unsafe rows[tap] else { continue }
        unsafe add(&sum, row.loadUnaligned(fromByteOffset: index &* size, as: Row.self), weights[tap])
      }
      unsafe UnsafeMutableRawPointer(line + index).storeBytes(of: finish(sum), as: Line.self)
      index &+= width
    }
  }
}

// The filter along rows.
extension PixelKernels {
  /// Adds weighted pixels of a line, one sum for each output pixel of the weights.
  func filterAcross(_ line: Elements<Float>, weights: FilterWeights, into output: MutableElements<Float>) {
    let count = weights.starts.count
    precondition(line.count >= weights.sourceCount * 4 && output.count >= count * 4)
    // In bounds by the line above: `starts` plus `counts` is at most `sourceCount`, and `counts` at most `stride`.
    unsafe line.withUnsafeBufferPointer { line in
      unsafe output.withUnsafeBufferPointer { output in
        guard let line = line.baseAddress, let output = output.baseAddress else { return }
        if isNative {
          let (starts, counts) = (weights.starts, weights.counts)
          unsafe vitrine_filter_across(line, starts, counts, weights.weights, weights.stride, output, count)
        } else {
          unsafe Self.filterAcross(UnsafeRawPointer(line), weights, UnsafeMutableRawPointer(output))
        }
      }
    }
  }

  private static func filterAcross(
    _ line: UnsafeRawPointer,
    _ weights: FilterWeights,
    _ output: UnsafeMutableRawPointer,
  ) {
    for (x, start) in weights.starts.enumerated() {
      let pixels = unsafe line + start &* 16
      let (taps, count) = (weights[x], weights.counts[x])
      var (even, odd) = (SIMD4<Float>(), SIMD4<Float>())
      unsafe taps.withUnsafeBufferPointer { taps in
        var tap = 0
        while tap &+ 2 <= count {
          unsafe even += pixels.loadUnaligned(fromByteOffset: tap &* 16, as: SIMD4<Float>.self) * taps[tap]
          unsafe odd += pixels.loadUnaligned(fromByteOffset: tap &* 16 &+ 16, as: SIMD4<Float>.self) * taps[tap &+ 1]
          tap &+= 2
        }
        if tap < count {
          unsafe even += pixels.loadUnaligned(fromByteOffset: tap &* 16, as: SIMD4<Float>.self) * taps[tap]
        }
      }
      unsafe output.storeBytes(of: even + odd, toByteOffset: x &* 16, as: SIMD4<Float>.self)
    }
  }
}
