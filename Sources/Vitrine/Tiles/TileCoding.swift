import VitrineImaging
import VitrineRuntime

/// The form in which tiles are stored: lossless.
enum TileCoding {
  static let version = 1

  static func data(of bitmap: Bitmap) -> Data {
    unsafe bitmap.withUnsafeBytes { pixels in
      var data = Data([
        bitmap.alpha == .opaque ? 0 : 1, UInt8(ColorSpace.allCases.firstIndex(of: bitmap.colorSpace) ?? 0),
      ])
      unsafe data.append(contentsOf: pixels)
      return data
    }
  }

  static func bitmap(of data: Data, width: Int, height: Int) -> Bitmap? {
    guard data.count == 2 + 4 * width * height, data[data.startIndex] <= 1,
      Int(data[data.startIndex + 1]) < ColorSpace.allCases.count
    else { return nil }
    let alpha: Bitmap.Alpha = data[data.startIndex] == 0 ? .opaque : .straight
    let colorSpace = ColorSpace.allCases[Int(data[data.startIndex + 1])]
    return unsafe Bitmap(width: width, height: height, alpha: alpha, colorSpace: colorSpace) { pixels in
      // As many bytes, by the guard.
      unsafe data.dropFirst(2).withUnsafeBytes { unsafe pixels.copyMemory(from: $0) }
    }
  }
}
