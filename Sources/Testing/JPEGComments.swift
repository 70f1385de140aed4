package import VitrineRuntime

extension Data {
  /// The same JPEG file with comments of so many bytes, or a few more, in front of scans; the first scan is 1.
  package func withJPEGComments(ofBytes count: Int, beforeScans numbers: Set<Int>) -> Data {
    let comment = Data([0xFF, 0xFE, 0xFF, 0xFF]) + Data(count: 0xFFFF - 2)
    let padding = (0...(count / comment.count)).reduce(into: Data()) { padding, _ in padding += comment }
    var (result, scans) = (Data(), 0)
    for index in indices {
      // Within a scan's data the two bytes do not follow one another.
      if self[index] == 0xFF, index + 1 < endIndex, self[index + 1] == 0xDA {
        scans += 1
        if numbers.contains(scans) { result += padding }
      }
      result.append(self[index])
    }
    return result
  }
}
