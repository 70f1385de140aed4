import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineSandbox

/// The processes of a sandbox that decodes images of several formats.
struct WorkerKindTests {
  private static func file(_ format: ImageFormat) throws -> Data {
    switch format {
    case .avif: try Fixture.data("lossless.avif")
    case .jxl: try Fixture.data("lossless.jxl")
    default: try Fixture.data("baseline-420.jpg")
    }
  }

  private static func pool(processes: Int) throws -> WorkerPool {
    var configuration = Sandbox.Configuration()
    (configuration.processes, configuration.startsAhead) = (processes, false)
    return WorkerPool(ByteString(try #require(BuiltProgram.path("vitrine-codecs"))), configuration)
  }

  private static func take(_ pool: WorkerPool, _ kind: WorkerKind) throws(ImageError) -> WorkerProcess {
    try pool.take(kind) { () throws(ImageError) in }
  }

  /// Reads a file of the kernel's, whose length is not known.
  private static func text(ofFile path: String) throws -> String {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    try #require(file >= 0)
    defer { close(file) }
    var (text, part) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while true {
      // Within the bytes.
      let count = unsafe read(file, &part, part.count)
      guard count > 0 else { return String(decoding: text, as: UTF8.self) }
      text += part[..<count]
    }
  }

  /// Formats in turn do not start a process each time.
  @Test
  func theProcessOfEachFormatStays() throws {
    let sandbox = try Sandbox.built { ($0.processes, $0.startsAhead) = (1, false) }
    let decoders = sandbox.decoders

    for format in [ImageFormat.jpeg, .avif, .jxl, .jpeg, .avif, .jxl] { _ = try decoders.decode(Self.file(format)) }

    #expect(sandbox.counts.started == 3)
    #expect(sandbox.counts.processes == 3)
  }

  @Test
  func aSpareProcessMakesRoomForAnotherFormat() throws {
    let pool = try Self.pool(processes: 2)
    let pictures = (try Self.take(pool, .pictures), try Self.take(pool, .pictures))
    pool.giveBack(pictures.0)
    pool.giveBack(pictures.1)

    pool.giveBack(try Self.take(pool, WorkerKind(decoding: .avif)))
    #expect(pool.counts.processes == 2)
    #expect(!pool.processIdentifiers.contains(pictures.0.identifier))
    #expect(pool.processIdentifiers.contains(pictures.1.identifier))

    // The last of each format is no spare one.
    pool.giveBack(try Self.take(pool, WorkerKind(decoding: .jxl)))
    #expect(pool.counts.processes == 3)
  }

  @Test
  func formatsShareTheLimit() throws {
    let pool = try Self.pool(processes: 2)
    let (first, second) = (try Self.take(pool, .pictures), try Self.take(pool, WorkerKind(decoding: .avif)))
    func isRefused(_ kind: WorkerKind) -> Bool {
      var calls = 0
      let error = failure {
        try pool.take(kind) { () throws(ImageError) in
          calls += 1
          if calls > 2 { throw ImageError(.cancelled, "cancelled") }
        }
      }
      return error?.isCancellation == true
    }

    #expect(isRefused(WorkerKind(decoding: .jxl)))
    #expect(isRefused(.pictures))
    // Drawings, and pictures to be encoded, have limits of their own.
    pool.giveBack(try Self.take(pool, WorkerKind(decoding: .svg)))
    pool.giveBack(try Self.take(pool, WorkerKind(encoding: .avif)))
    pool.giveBack(second)
    pool.giveBack(try Self.take(pool, WorkerKind(decoding: .jxl)))
    pool.giveBack(first)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can see what a confined process has mapped"))
  func aWorkerHasTheLibraryOfItsKindOnly() throws {
    let pool = try Self.pool(processes: 2)
    func libraries(_ kind: WorkerKind) throws -> Set<String> {
      let worker = try Self.take(pool, kind)
      defer { pool.retire(worker) }
      let maps = try Self.text(ofFile: "/proc/\(worker.identifier)/maps")
      let names = ["libavif", "libheif", "libjxl", "libtiff", "librsvg"]
      return Set(names.filter { maps.contains("/\($0)") })
    }

    #expect(try libraries(.pictures) == [])
    #expect(try libraries(WorkerKind(decoding: .avif)) == ["libavif"])
    #expect(try libraries(WorkerKind(decoding: .heic)) == ["libheif"])
    #expect(try libraries(WorkerKind(decoding: .jxl)) == ["libjxl"])
    #expect(try libraries(WorkerKind(decoding: .tiff)) == ["libtiff"])
    #expect(try libraries(WorkerKind(decoding: .svg)).isSuperset(of: ["librsvg"]))
  }

  /// The first bytes decide, in the program and in the process, whatever follows.
  @Test(arguments: [ImageFormat.avif, .heic, .jxl, .tiff])
  func aFileOfAnotherFormatIsTheSameError(claimed: ImageFormat) throws {
    let sandbox = try Sandbox.built { $0.startsAhead = false }
    let avif = try Self.file(.avif)
    let beginnings: [ImageFormat: [UInt8]] = [
      .avif: Array(avif.prefix(32)), .heic: [0, 0, 0, 24] + Array("ftypheic".utf8) + Array(avif[12..<24]),
      .jxl: [0xFF, 0x0A], .tiff: [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0],
    ]
    let wrong = Data(try #require(beginnings[claimed])) + (try Self.file(.jpeg))
    #expect(ImageFormat.sniff(wrong) == claimed)

    let there = failure { try sandbox.decoders.decode(wrong) }

    #expect(there == failure { try ownDecoders.decode(wrong) })
    #expect(throws: Never.self) { try sandbox.decoders.decode(avif) }
    #expect(sandbox.counts.crashed == 0)
  }
}
