import CVitrineSandbox
package import VitrineRuntime

/// What the system told the program at its start.
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
}
