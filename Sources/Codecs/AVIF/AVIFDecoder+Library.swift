import CVitrineAVIF
package import VitrineImaging

extension AVIFDecoder {
  /// The library, opened by the first who asks.
  ///
  /// A process that confines itself cannot open it later.
  // A string of the C library's, which is read at once.
  package static let library = unsafe CodecLibrary(of: .avif, failure: vitrine_avif_open())
}
