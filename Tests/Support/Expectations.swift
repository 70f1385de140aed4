package import Testing
package import VitrineImaging

/// The error of a test that found what it must not.
package struct Unexpected: Error {
  package init() {}
}

/// Returns the error that `body` throws; records an issue and returns `nil` if it throws none.
package func failure<R>(
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> R,
) -> ImageError? {
  #expect(throws: ImageError.self, sourceLocation: sourceLocation) { _ = try body() }
}

extension Bitmap {
  /// The width and the height, to compare in one expectation.
  package var size: [Int] { [width, height] }

  /// The bytes of the pixels.
  package var content: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}

extension SIMD4<UInt8> {
  /// Returns `true` if no component differs by more than `tolerance`.
  package func isWithin(_ tolerance: Int, of other: Self) -> Bool {
    indices.allSatisfy { abs(Int(self[$0]) - Int(other[$0])) <= tolerance }
  }
}
