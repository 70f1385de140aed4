package import VitrineImaging
package import VitrineRuntime

/// A decoder that counts what another one, of PNG by default, is asked to do, and may call closures before.
package struct CountingDecoder: ImageDecoder {
  /// The number of headers read.
  package let headers = Counter()
  /// The number of images opened.
  package let decodes = Counter()
  private let base: any ImageDecoder
  private let onInfo: @Sendable () -> Void
  private let onOpen: (@Sendable (Data) -> Void)?

  /// Creates a decoder; the closures may block.
  package init(
    _ base: any ImageDecoder = PNGDecoder(),
    onOpen: (@Sendable (Data) -> Void)? = nil,
    onInfo: @escaping @Sendable () -> Void = {},
  ) {
    (self.base, self.onInfo, self.onOpen) = (base, onInfo, onOpen)
  }

  package var formats: [ImageFormat] { base.formats }

  package func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    headers.increase()
    onInfo()
    return try unsafe base.info(of: bytes, format: format, limits: limits)
  }

  package func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    decodes.increase()
    if let onOpen { unsafe onOpen(Data(bytes)) }
    return try unsafe base.open(bytes, request)
  }
}

extension Counter {
  /// Returns a processor that changes nothing, and counts its runs.
  package func processor(_ id: String) -> ImageProcessor {
    .custom(id: id) { [self] bitmap in
      increase()
      return bitmap
    }
  }
}

/// A decoder that blocks when it opens one file, until the test opens the gate.
package struct HeldDecoder: Sendable {
  /// The number of times that it has opened the file.
  package let begun: Counter
  package let gate: Gate<Void>
  package let decoder: CountingDecoder

  package init(of file: Data) {
    let (begun, gate) = (Counter(), Gate())
    (self.begun, self.gate) = (begun, gate)
    decoder = CountingDecoder { data in
      guard data == file else { return }
      begun.increase()
      gate.wait()
    }
  }
}
