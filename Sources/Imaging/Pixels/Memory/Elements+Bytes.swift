package import VitrineRuntime

// Loops over bytes for other modules. They are no generic functions, so that each is compiled for bytes here.
extension Elements {
  /// No elements.
  package static var empty: Elements { unsafe Elements(UnsafeBufferPointer(start: nil, count: 0)) }
}

extension Elements<UInt8> {
  /// A copy of the bytes.
  package var data: Data {
    // Only read while the closure runs.
    unsafe withUnsafeBufferPointer { unsafe Data($0) }
  }
}

extension MutableElements<UInt8> {
  /// Overwrites all bytes with zeros.
  package func clear() {
    // All bytes, and no others.
    unsafe withUnsafeBufferPointer { bytes in
      if let start = bytes.baseAddress { unsafe memset(start, 0, bytes.count) }
    }
  }

  /// Exchanges red and blue of each pixel of four bytes.
  package func swapRedAndBlue() { updateEachPixel { SIMD4($0.z, $0.y, $0.x, $0.w) } }

  /// Writes opaque pixels of four bytes from a level of each colour for each.
  package func updatePixels(red: Elements<UInt8>, green: Elements<UInt8>, blue: Elements<UInt8>) {
    let width = count / 4
    precondition(count & 3 == 0 && red.count >= width && green.count >= width && blue.count >= width, "no such levels")
    guard let red = unsafe red.start, let green = unsafe green.start, let blue = unsafe blue.start,
      let start = unsafe UnsafeMutableRawPointer(start)
    else { return }
    // In bounds by the first lines. Without checks the loop is vectorised.
    for x in 0..<width {
      let color = unsafe UInt32(red[x]) | UInt32(green[x]) << 8 | UInt32(blue[x]) << 16 | 0xFF00_0000
      unsafe start.storeBytes(of: color.littleEndian, toByteOffset: 4 &* x, as: UInt32.self)
    }
  }

  /// Writes opaque pixels of four bytes from three bytes for each.
  package func updatePixels(colors: Elements<UInt8>) {
    let width = count / 4
    precondition(count & 3 == 0 && colors.count >= 3 * width, "no such colours")
    guard let colors = unsafe colors.start, let start = unsafe UnsafeMutableRawPointer(start) else { return }
    // In bounds by the first lines.
    for x in 0..<width {
      let color = unsafe SIMD4(colors[3 &* x], colors[3 &* x &+ 1], colors[3 &* x &+ 2], 255)
      unsafe start.storeBytes(of: color, toByteOffset: 4 &* x, as: SIMD4<UInt8>.self)
    }
  }
}
