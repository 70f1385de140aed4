extension JPEGHeader {
  /// Throws for the kinds of JPEG that no decoder here reads.
  func checkSupport() throws(ImageError) {
    let feature: String? =
      switch frameMarker {
      case 0xC3, 0xCB: "lossless JPEG (T.81, annex H)"
      case 0xC5...0xC7, 0xCD...0xCF: "hierarchical JPEG (T.81, annex J)"
      default: precision == 8 ? nil : "JPEG of \(precision) bits a component"
      }
    guard let feature else { return }
    throw ImageError(.unsupported, format: .jpeg, "\(feature) cannot be decoded")
  }
}
