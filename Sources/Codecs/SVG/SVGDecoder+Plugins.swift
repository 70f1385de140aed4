import VitrineImaging
import VitrineRuntime

extension SVGDecoder {
  /// Loads the libraries that librsvg otherwise loads when it first meets a picture of these formats in a drawing.
  ///
  /// A process that confines itself cannot load them later.
  package static func loadPlugins() {
    let pictures = [
      "image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
      "image/webp;base64,UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
      "image/bmp;base64,Qk06AAAAAAAAADYAAAAoAAAAAQAAAAEAAAABABgAAAAAAAQAAAATCwAAEwsAAAAAAAAAAAAAAP8AAA==",
      "image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/%3E",
      // What has no type is recognised with the system's table of types.
      ";base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
    ]
    let images = pictures.map { #"<image width="1" height="1" xlink:href="data:\#($0)"/>"# }.joined()
    let file = Data(
      """
      <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="1" height="1">\(images)\
      </svg>
      """.utf8
    )
    var pixels = [UInt8](repeating: 0, count: 4)
    // The bytes and the pixel are only used while the closures run. What cannot be drawn is not needed either.
    unsafe file.withUnsafeBytes { bytes in
      unsafe pixels.withUnsafeMutableBytes { pixels in
        let whole = PixelRegion(x: 0, y: 0, width: 1, height: 1)
        try? unsafe SVGDocument(bytes).draw(whole, ofWidth: 1, height: 1, into: MutableElements(pixels))
      }
    }
  }
}
