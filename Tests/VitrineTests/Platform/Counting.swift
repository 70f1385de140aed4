import Vitrine
import VitrineImaging
import VitrineRuntime
import VitrineTesting

/// Bytes that come when the test opens the gate, and a count of how often they were asked for.
final class GatedSource: Sendable {
  private let gate = Gate<Result<Data, any Error>>()
  private let asked = Lock(0)
  private let begun = Gate<Bool>()
  private let id: String

  init(_ id: String = "picture") {
    self.id = id
  }

  var count: Int { asked.withLock { $0 } }

  var source: ImageSource {
    .closure(id: id) { [self] in
      asked.withLock { $0 += 1 }
      begun.open(true)
      return try await gate.value().get()
    }
  }

  func hasBegun() async { _ = await begun.value() }

  func open(_ data: Data) { gate.open(.success(data)) }

  func fail(_ error: any Error) { gate.open(.failure(error)) }
}

/// Counts how often it runs.
final class Counter: Sendable {
  private let value = Lock(0)

  var count: Int { value.withLock { $0 } }

  func increase() { value.withLock { $0 += 1 } }

  func processor(_ id: String) -> ImageProcessor {
    .custom(id: id) { [self] bitmap in
      increase()
      return bitmap
    }
  }
}

/// Counts what it decodes.
struct CountingDecoder: ImageDecoder {
  let decodes = Counter()
  let inner = PNGDecoder()

  var formats: [ImageFormat] { inner.formats }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    try unsafe inner.info(of: bytes, format: format, limits: limits)
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
    decodes.increase()
    return try unsafe inner.open(bytes, request)
  }
}
