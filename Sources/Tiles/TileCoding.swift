import Vitrine
import VitrineImaging
import VitrineRuntime

/// The format of stored tiles: lossless, and fast to read and to write.
///
/// Two bytes describe the pixels, which follow in the Quite OK Image format. A photograph takes about half of its raw
/// pixels, and a tile is read in a millisecond.
enum TileCoding {
  static let version = 2

  static func data(of bitmap: Bitmap) -> Data {
    var data = Data([
      bitmap.alpha == .opaque ? 0 : 1, UInt8(ColorSpace.allCases.firstIndex(of: bitmap.colorSpace) ?? 0),
    ])
    // The function throws only in its check, which this call does not pass.
    try? QOIStream.append(bitmap, to: &data)
    return data
  }

  static func bitmap(of data: Data, width: Int, height: Int) -> Bitmap? {
    guard data.count > 2, data[data.startIndex] <= 1, Int(data[data.startIndex + 1]) < ColorSpace.allCases.count
    else { return nil }
    let alpha: Bitmap.Alpha = data[data.startIndex] == 0 ? .opaque : .straight
    let colorSpace = ColorSpace.allCases[Int(data[data.startIndex + 1])]
    var isWhole = false
    let bitmap = unsafe Bitmap(width: width, height: height, alpha: alpha, colorSpace: colorSpace) { pixels in
      // The buffers are only used while the closures run.
      isWhole = unsafe data.dropFirst(2).withUnsafeBytes { unsafe QOIStream.read($0, into: pixels) }
    }
    return isWhole ? bitmap : nil
  }
}
