import Testing
import VitrineImaging

@Suite
struct CodecLibraryTests {
  @Test
  func aMissingLibraryIsAnErrorThatSaysWhich() {
    let library = unsafe "libavif.so.15: cannot open shared object file".withCString { reason in
      unsafe CodecLibrary(of: .avif, failure: reason)
    }

    let error = #expect(throws: ImageError.self) { try library.check() }
    #expect(error?.code == .unsupported)
    #expect(error?.format == .avif)
    #expect(
      error?.detail == "avif needs a library that cannot be opened: libavif.so.15: cannot open shared object file "
        + "(in Debian it is the package libavif15)"
    )
    #expect(#expect(throws: ImageError.self) { try library.check(.notEncodable) }?.code == .notEncodable)
  }

  @Test
  func anOpenLibraryIsNoError() {
    #expect(throws: Never.self) { try unsafe CodecLibrary(of: .jxl, failure: nil).check() }
  }
}
