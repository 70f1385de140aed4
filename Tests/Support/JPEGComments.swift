package import VitrineRuntime

extension Data {
  /// Returns the same JPEG file with comments of at least `count` bytes before the given scans; the first scan is 1.
  package func withJPEGComments(ofBytes count: Int, beforeScans numbers: Set<Int>) -> Data {
    let comment = Data([0xFF, 0xFE, 0xFF, 0xFF]) + Data(count: 0xFFFF - 2)
    let padding = (0...(count / comment.count)).reduce(into: Data()) { padding, _ in padding += comment }
    var (result, scans) = (Data(), 0)
    for index in indices {
      // Inside a scan's data these two bytes never follow one another.
      if self[index] == 0xFF, index + 1 < endIndex, self[index + 1] == 0xDA {
        scans += 1
        if numbers.contains(scans) { result += padding }
      }
      result.append(self[index])
    }
    return result
  }
}
