import VitrineRuntime

// EXIF and XMP are put into the files that the system has written: in place of its dictionaries, which know fewer fields,
// and would write some of their own.

extension PNGHeader {
  /// The end of the header, which is the first chunk and always as long.
  private static let headerEnd = 33

  /// Returns a file with chunks for the metadata, after the header.
  static func adding(_ input: EncoderInput, to file: Data) -> Data {
    let keyword = Data("XML:com.adobe.xmp\0\0\0\0\0".utf8)
    let bodies = [(Chunk.eXIf, input.exif), (Chunk.iTXt, input.xmp.map { keyword + $0 })]
    var whole = Data(file.prefix(headerEnd))
    for case (let type, let body?) in bodies {
      whole += body.reading { PNGChecksum.chunk(type, [$0]) }
    }
    return whole + file.dropFirst(headerEnd)
  }
}
