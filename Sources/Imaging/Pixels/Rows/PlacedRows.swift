/// Rows of a picture that is transparent around another, of which only that other is held.
final class PlacedRows: RowSource {
  let width: Int
  let height: Int
  let hasAlpha = true
  var damage: ImageError? { picture.damage }
  private let picture: any RowSource
  private let left: Int
  private let top: Int
  private var row = 0

  /// Places `picture` within `width` x `height` pixels.
  init(_ picture: any RowSource, x: Int, y: Int, width: Int, height: Int) {
    precondition(x >= 0 && y >= 0 && x + picture.width <= width && y + picture.height <= height)
    (self.picture, left, top) = (picture, x, y)
    (self.width, self.height) = (width, height)
  }

  func read(into rows: UnsafeMutableRawBufferPointer, bytesPerRow: Int, count: Int) throws(ImageError) -> Int {
    let count = min(count, height - row)
    guard count > 0 else { return 0 }
    // As long as its memory; all uses are within it by their checks.
    let rows = unsafe MutableElements(rows)
    precondition(rows.count >= bytesPerRow * (count - 1) + width * 4)
    // Rows beside the picture are never mixed with its own, which may come in smaller numbers.
    let isInside = row >= top && row < top + picture.height
    let end = row < top ? top : isInside ? top + picture.height : height
    let next = min(count, end - row)
    for start in stride(from: 0, to: next * bytesPerRow, by: bytesPerRow) {
      rows.extracting(start..<start + width * 4).update(repeating: 0)
    }
    guard isInside else {
      row += next
      return next
    }
    // The picture's rows are as far apart as the result's rows, and end within them.
    let target = rows.extracting(left * 4..<rows.count)
    let got = try picture.read(into: target, bytesPerRow: bytesPerRow, count: next)
    row += got
    return got
  }
}
