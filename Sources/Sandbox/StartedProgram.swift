import CVitrineSandbox
package import VitrineRuntime

/// The command line of the running program, and the folder of its file.
package enum StartedProgram {
  /// The words of the command line behind the program's name, as bytes.
  ///
  /// Swift's own are text, and there are none without `/proc`.
  package static var arguments: [ByteString] {
    var words: [ByteString] = []
    // Each ends in a zero, and lasts as long as the program.
    while let word = unsafe vitrine_argument(Int32(words.count + 1)) {
      words.append(unsafe ByteString(bytes: UnsafeRawBufferPointer(start: word, count: strlen(word))))
    }
    return words
  }

  /// The folder of the program's file, with a slash at its end.
  static var folder: ByteString {
    var path = [CChar](repeating: 0, count: 4096)
    // The given count leaves room for the terminating zero.
    var count = unsafe readlink("/proc/self/exe", &path, path.count - 1)
    // Without /proc. A resolved path has at most PATH_MAX bytes, which are 4096 with its zero.
    if count < 0, let started = unsafe vitrine_started_path(), unsafe realpath(started, &path) != nil {
      count = unsafe strlen(path)
    }
    guard count > 0, let slash = path[..<count].lastIndex(of: CChar(UInt8(ascii: "/"))) else { return ByteString("./") }
    return ByteString(bytes: path[...slash].map { UInt8(bitPattern: $0) })
  }
}
