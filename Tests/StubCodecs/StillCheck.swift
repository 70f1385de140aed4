public import VitrineRuntime

/// Questions to Linux's codecs about files that ImageIO was given.
public enum StillCheck {
  /// Returns `true` if a file is one still picture and nothing of it is missing.
  public static func isWhole(_ data: Data) -> Bool {
    guard let info = try? SystemPicture.info(of: data), info.frameCount == 1 else { return false }
    let isRead = try? unsafe data.withImageBytes { (bytes) throws(ImageError) -> Bool in
      let rows = try unsafe SystemPicture.rows(bytes, info, scale: 1, isWhole: true)
      var line = [UInt8](repeating: 0, count: 4 * rows.width)
      for _ in 0..<rows.height {
        let count = unsafe line.withUnsafeMutableBytes { line in
          unsafe try? rows.read(into: line, bytesPerRow: line.count, count: 1)
        }
        guard count == 1 else { return false }
      }
      return rows.damage == nil
    }
    return isRead == true
  }
}
