import Foundation
import Testing
import VitrineRuntime
import VitrineTestSupport

/// What can be read as a file, and what has no end or would wait for another program.
@Suite(.patient)
struct FileContentsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func reason(_ path: String) -> String? {
    do throws(FileError) {
      _ = try FileContents.at(path)
      return nil
    } catch {
      return error.description
    }
  }

  @Test
  func aRegularFileIsReadAlsoThroughALink() throws {
    let (file, link) = (folder.file("a"), folder.file("b"))
    try Data("abc".utf8).write(to: file)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    #expect(try FileContents.at(file.path) == Data("abc".utf8))
    #expect(try FileContents.at(ByteString(link.path)) == Data("abc".utf8))
  }

  // Around the sizes at which memory comes in large pages, and at which the last of these is whole.
  @Test(arguments: [
    0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, (5 << 19) - 1, 5 << 19,
    5_000_000,
  ])
  func aFileOfAnySizeIsReadWhole(byteCount: Int) throws {
    let file = folder.file("large")
    var contents = Data(count: byteCount)
    for index in stride(from: 0, to: byteCount, by: 977) {
      contents[index] = UInt8(truncatingIfNeeded: index / 977 + 1)
    }
    if byteCount > 0 { contents[byteCount - 1] = 255 }
    try contents.write(to: file)

    let read = try FileContents.at(file.path)

    #expect(read == contents)
    // A part keeps the memory of the whole.
    let part = { try FileContents.at(file.path).suffix(1000) }
    #expect(try part() == contents.suffix(1000))
  }

  @Test
  func aLargeFileIsReadFromWhereItIsOpen() throws {
    let path = folder.file("large").path
    try Data(repeating: 7, count: 3_000_000).write(to: URL(filePath: path))
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    #expect(lseek(file, 2_999_000, SEEK_SET) == 2_999_000)

    #expect(try FileContents.of(file) == Data(repeating: 7, count: 1000))
  }

  @Test
  func aFIFOIsRefusedWithoutWaitingForItsOtherEnd() {
    let path = folder.file("fifo").path
    #expect(unsafe mkfifo(path, 0o600) == 0)
    #expect(reason(path) == "it is a FIFO, not a regular file")
    // Also while someone holds it open for writing.
    let writer = unsafe open(path, O_RDWR | O_CLOEXEC)
    defer { close(writer) }
    #expect(reason(path) == "it is a FIFO, not a regular file")
  }

  @Test
  func aFileWithoutAnEndAFolderAndASocketAreRefused() throws {
    #expect(reason("/dev/zero") == "it is a device, not a regular file")
    #expect(reason(folder.path) == "it is a folder")
    #expect(reason(folder.file("none").path) == "No such file or directory")

    // A name for a socket has at most 107 bytes.
    let path = "/tmp/vitrine-\(UInt32.random(in: 0...UInt32.max))"
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    // The name is as long as the structure says.
    let isBound = unsafe withUnsafePointer(to: name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    try #require(isBound)
    defer {
      close(socket)
      unsafe unlink(path)
    }
    #expect(reason(path) == "it is a socket, not a regular file")
  }
}
