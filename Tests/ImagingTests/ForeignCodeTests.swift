import Testing
import VitrineRuntime
import VitrineTesting

@testable import VitrineImaging

/// What is not Vitrine's may call back wherever it is called or released.
@Suite(.timeLimit(.minutes(5)))
struct ForeignCodeTests {
  @Test
  func anEncoderMayUseItsRegistryToSayWhatItWrites() throws {
    let registry = EncoderRegistry([])
    registry.add(CallingEncoder(registry))

    let file = try registry.encode(Bitmap.testPattern(width: 4, height: 4), as: .png)

    #expect(file == Data([1]))
  }

  @Test
  func aDecoderMayUseItsRegistryToSayWhatItReads() throws {
    let registry = DecoderRegistry([])
    registry.add(CallingDecoder(registry))

    #expect(try registry.info(of: StubDecoder.file).format == .qoi)
    #expect(registry.formats == [.qoi])
  }

  @Test
  func theBytesOfAProfileMayBeFreedByWhoUsesProfiles() {
    let freed = Lock(0)
    // None of them is a profile; that is kept as well.
    for number in 0..<20 {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 1)
      // Just allocated, and freed by nobody but the closure.
      unsafe memory.initializeMemory(as: UInt8.self, repeating: UInt8(number), count: 64)
      let data = unsafe Data(
        bytesNoCopy: memory,
        count: 64,
        deallocator: .custom { memory, _ in
          unsafe memory.deallocate()
          let other = ColorProfile(data: Data([200, UInt8(number)]))
          #expect(ProfileTransform.cached(other, .rgb, to: .sRGB) == nil)
          freed.withLock { $0 += 1 }
        },
      )
      #expect(ProfileTransform.cached(ColorProfile(data: data), .rgb, to: .sRGB) == nil)
    }
    #expect(freed.withLock { $0 } > 0)
  }
}

/// An encoder whose every answer asks the registry that it is in.
private struct CallingEncoder: ImageEncoder {
  private unowned let registry: EncoderRegistry

  init(_ registry: EncoderRegistry) { self.registry = registry }

  var format: ImageFormat {
    registry.add(PNGEncoder())
    return .png
  }

  func encode(_ bitmap: Bitmap, _ options: EncodeOptions) throws(ImageError) -> Data { Data([1]) }
}

/// A decoder whose every answer adds another to the registry that it is in.
private struct CallingDecoder: ImageDecoder {
  private unowned let registry: DecoderRegistry

  init(_ registry: DecoderRegistry) { self.registry = registry }

  var formats: [ImageFormat] {
    registry.add(StubDecoder())
    return [.qoi]
  }

  func info(
    of bytes: UnsafeRawBufferPointer,
    format: ImageFormat,
    limits: DecodeLimits,
  ) throws(ImageError) -> ImageInfo? {
    registry.add(StubDecoder())
    return ImageInfo(format: .qoi, storedWidth: 1, storedHeight: 1)
  }

  func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? { nil }
}
