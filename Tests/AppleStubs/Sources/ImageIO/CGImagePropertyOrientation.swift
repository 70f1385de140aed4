/// How a picture is stored: the values of EXIF.
public enum CGImagePropertyOrientation: UInt32, Sendable {
  /// The eight ways.
  case up = 1, upMirrored, down, downMirrored, leftMirrored, right, rightMirrored, left
}
