// The memory of encoding, beside the bitmap.

extension JPEGEncoder: MeasuredEncoder {
  /// The picture over white, and coefficients of two bytes, with full resolution of colour.
  package var byteCountPerPixel: Int { 11 }
}

extension PNGEncoder: MeasuredEncoder {
  /// The file, at most.
  package var byteCountPerPixel: Int { 4 }
}

extension WebPEncoder: MeasuredEncoder {
  /// libwebp's copy of the picture, and for lossless files its references and two hash chains.
  package var byteCountPerPixel: Int { 24 }
}
