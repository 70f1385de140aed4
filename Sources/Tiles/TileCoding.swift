import Vitrine
import VitrineRuntime

/// The form in which tiles are stored: lossless, and as quick to read as it is to write.
///
/// Two bytes say how the pixels are meant; they follow as in the Quite OK Image format. A photograph takes about half of
/// its raw pixels, and a tile is read in a millisecond.
enum TileCoding {
  static let version = 2

  static func data(of bitmap: Bitmap) -> Data {
    var data = Data([
      bitmap.alpha == .opaque ? 0 : 1, UInt8(ColorSpace.allCases.firstIndex(of: bitmap.colorSpace) ?? 0),
    ])
    // Only the check throws, and there is none.
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
      // Both buffers are only used while the closures run.
      isWhole = unsafe data.dropFirst(2).withUnsafeBytes { unsafe QOIStream.read($0, into: pixels) }
    }
    return isWhole ? bitmap : nil
  }
}
