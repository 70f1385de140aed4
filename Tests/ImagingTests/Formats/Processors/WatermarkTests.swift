import Testing
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// Watermarks at places and in patterns, as imgproxy documents them.
struct WatermarkTests {
  private static let white = SIMD4<UInt8>(repeating: 255)
  private static let mark = Bitmap.solid(white, width: 4, height: 2)

  /// The columns and the rows of a black picture that the watermark has made white.
  private func covered(
    _ layout: WatermarkLayout,
    _ mark: Bitmap = mark,
    on size: (width: Int, height: Int) = (20, 11),
  ) throws -> (columns: [Int], rows: [Int]) {
    let picture = Bitmap.solid(SIMD4(0, 0, 0, 255), width: size.width, height: size.height)
    let result = try ImageProcessor.watermark(mark, layout, opacity: 1).process(picture)
    #expect(result.size == picture.size)
    func isWhite(_ x: Int, _ y: Int) -> Bool { result[x, y] == Self.white }
    let rows = (0..<size.height).filter { y in (0..<size.width).contains { isWhite($0, y) } }
    return ((0..<size.width).filter { x in (0..<size.height).contains { isWhite(x, $0) } }, rows)
  }

  @Test(arguments: [
    (WatermarkLayout(.once(.topLeft)), 0...3, 0...1),
    (WatermarkLayout(.once(.bottomRight), x: 2, y: 3), 14...17, 6...7),
    // Halves are rounded to even numbers: 8.5 is 8.
    (WatermarkLayout(.once(.center)), 8...11, 5...6),
    (WatermarkLayout(.once(.center), x: -0.25, y: 2), 3...6, 7...8),
    (WatermarkLayout(.once(.topLeft), x: 3, y: 0.5, ratio: 1.5), 4...7, 6...7),
    // A pixel remains of what is pushed out.
    (WatermarkLayout(.once(.topLeft), x: -50, y: -50), 0...0, 0...0),
    (WatermarkLayout(.once(.topLeft), x: 50, y: 50), 19...19, 10...10),
    // It is fitted into half of both sides, and enlarged: 10 by 5.
    (WatermarkLayout(.once(.topLeft), scale: 0.5), 0...9, 0...4),
    (WatermarkLayout(.once(.topLeft), scale: 0.01), 0...0, 0...0),
  ])
  func aPlaceIsThatOfImgproxy(layout: WatermarkLayout, columns: ClosedRange<Int>, rows: ClosedRange<Int>) throws {
    let found = try covered(layout)
    #expect(found.columns == Array(columns) && found.rows == Array(rows), "\(found)")
  }

  @Test
  func tilesGoOutFromTheMiddle() throws {
    let bare = try covered(WatermarkLayout(.tiles))
    #expect(bare.columns == Array(0..<20) && bare.rows == Array(0..<11))
    // Periods of 7 and 5; the middle picture of three is at 8 and at 4.
    let spaced = try covered(WatermarkLayout(.tiles, x: 3, y: 3))
    #expect(spaced.columns == [1, 2, 3, 4, 8, 9, 10, 11, 15, 16, 17, 18])
    #expect(spaced.rows == [0, 4, 5, 9, 10])
    let dense = try covered(WatermarkLayout(.tiles, x: 2, y: 0.5, ratio: 1.5))
    #expect(dense.columns == spaced.columns)
    let far = try covered(WatermarkLayout(.tiles, x: 65_535, y: 65_535))
    #expect(far.columns.count == 4 && far.rows.count == 2)
  }

  @Test
  func aChessboardLeavesOutEveryOtherPicture() throws {
    let picture = Bitmap.solid(SIMD4(0, 0, 0, 255), width: 12, height: 6)
    let result = try ImageProcessor.watermark(Self.mark, WatermarkLayout(.chessboard), opacity: 1).process(picture)
    // Three by three pictures, of which those at the corners and the middle one are there.
    let rows = [1, 3, 5].map { y in [1, 5, 9].map { x in result[x, y] == Self.white } }
    #expect(rows == [[true, false, true], [false, true, false], [true, false, true]])
  }

  @Test
  func tilesAreTranslucent() throws {
    let picture = Bitmap.solid(SIMD4(0, 0, 0, 255), width: 5, height: 5)
    let half = try ImageProcessor.watermark(Self.mark, WatermarkLayout(.tiles), opacity: 0.5).process(picture)
    #expect(half[2, 2] == SIMD4(128, 128, 128, 255))
    let clear = Bitmap.solid(SIMD4(0, 0, 0, 0), width: 5, height: 5)
    #expect(
      try ImageProcessor.watermark(Self.mark, WatermarkLayout(.tiles), opacity: 1).process(clear)[4, 4] == Self.white
    )
  }

  @Test
  func aWatermarkOverTheLimitIsAnError() throws {
    var context = ProcessingContext()
    context.limits.outputByteCount = 4000
    let picture = Bitmap.solid(SIMD4(0, 0, 0, 255), width: 20, height: 20)
    let error = #expect(throws: ImageError.self) {
      try ImageProcessor.watermark(Self.mark, WatermarkLayout(.tiles, scale: 10), opacity: 1).process(picture, context)
    }
    #expect(error?.code == .overLimit && error?.limit == .outputByteCount)
  }

  @Test
  func layoutsAreInTheIdentifier() {
    let layouts = [
      WatermarkLayout(.tiles), WatermarkLayout(.chessboard), WatermarkLayout(.once(.center)),
      WatermarkLayout(.once(.top)),
      WatermarkLayout(.tiles, x: 1), WatermarkLayout(.tiles, y: 1), WatermarkLayout(.tiles, scale: 1),
      WatermarkLayout(.tiles, ratio: 2),
    ]
    let names = layouts.map { ImageProcessor.watermark(Self.mark, $0, opacity: 1).identifier }
    #expect(Set(names).count == names.count)
    #expect(ImageProcessor.watermark(Self.mark, WatermarkLayout(.tiles), opacity: 0.5).identifier != names[0])
    #expect(
      ImageProcessor.watermark(.solid(Self.white, width: 4, height: 3), layouts[0], opacity: 1).identifier != names[0]
    )
  }
}
