/// A search by name: all words must occur, in any order, in upper or lower case.
struct NameSearch: Sendable, Equatable {
  private let words: [[Character]]
  /// The same words as bytes, if all of them are ASCII.
  private let plainWords: [[UInt8]]?

  init(_ text: String) {
    let words = text.lowercased().split { $0.isWhitespace }
    self.words = words.map(Array.init)
    plainWords = text.utf8.allSatisfy { $0 < 128 } ? words.map { Array($0.utf8) } : nil
  }

  var isEmpty: Bool { words.isEmpty }

  func finds(_ name: String) -> Bool {
    if words.isEmpty { return true }
    let name = name.lowercased()
    if let plainWords {
      let bytes = Array(name.utf8)
      return plainWords.allSatisfy { bytes.contains(run: $0) }
    }
    // Characters are equal however their accents are encoded.
    let characters = Array(name)
    return words.allSatisfy { characters.contains(run: $0) }
  }
}

extension Array where Element: Equatable {
  fileprivate func contains(run: [Element]) -> Bool {
    guard let first = run.first, run.count <= count else { return run.isEmpty }
    for start in 0...(count - run.count) where self[start] == first {
      if self[start..<start + run.count].elementsEqual(run) { return true }
    }
    return false
  }
}
