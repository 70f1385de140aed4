import Foundation
import Vitrine
import VitrineImaging

/// A decoder of strangers' formats that does not come back until it is released.
struct StuckDecoder: ImageDecoder {
  let formats: [ImageFormat]
  private let gate = DispatchSemaphore(value: 0)
  private let name: String

  init(_ number: Int) {
    name = "stuck-\(number)"
    formats = [ImageFormat(name: name, mediaType: "image/x-\(name)", fileExtension: name)]
  }

  var file: Data { Data(name.utf8) }

  func release() { for _ in 0..<1000 { gate.signal() } }

  func format(of bytes: UnsafeRawBufferPointer) -> ImageFormat? { Data(bytes) == file ? formats[0] : nil }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    ImageInfo(format: format, storedWidth: 100, storedHeight: 100)
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    gate.wait()
    return nil
  }
}
