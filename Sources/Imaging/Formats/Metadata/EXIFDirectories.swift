import VitrineRuntime

/// The directories of EXIF in a file: in one block in TIFF and in raw files of its structure, in three blocks in CR3.
///
/// Each is the first directory of its block.
struct EXIFDirectories {
  /// The first directory, which names camera and author.
  var main: TIFFBlock?
  var exposure: TIFFBlock?
  var place: TIFFBlock?

  init(main: TIFFBlock? = nil, exposure: TIFFBlock? = nil, place: TIFFBlock? = nil) {
    (self.main, self.exposure, self.place) = (main, exposure, place)
  }

  /// Finds the directories of a file of TIFF's structure.
  init(_ file: TIFFBlock) {
    main = file
    var (exposure, place): (Int?, Int?)
    file.forEachEntry(of: file.firstDirectory) { tag, value in
      if tag == 0x8769 { exposure = value.integer }
      if tag == 0x8825 { place = value.integer }
    }
    self.exposure = exposure.map { file.part(from: 0, directory: $0) }
    self.place = place.map { file.part(from: 0, directory: $0) }
  }

  /// Copies the directories into a block of at most some bytes of values; `nil` if nothing is left.
  ///
  /// The first directory's tags of pixels stay behind, since the block is for other pixels. So do the notes of makers, which
  /// are full of places in the file. Values that are too long are left out.
  /// Complexity: O(entries + bytes).
  func block(limit: Int) -> Data? {
    var rest = limit
    let (main, exposure, place) = (
      copy(main, &rest, Self.described.contains), copy(exposure, &rest) { !Self.places.contains($0) },
      copy(place, &rest) { _ in true },
    )
    guard !(main.isEmpty && exposure.isEmpty && place.isEmpty) else { return nil }
    return TIFFDirectory.block(main, exposure: exposure, place: place)
  }

  private func copy(_ block: TIFFBlock?, _ rest: inout Int, _ isKept: (Int) -> Bool) -> TIFFDirectory {
    var copy = TIFFDirectory()
    block?.forEachEntry(of: block?.firstDirectory ?? 0) { tag, value in
      let count = value.block.bytes.count
      guard isKept(tag), count <= min(rest, TIFFBlock.textLimit) else { return }
      let content = value.content
      guard content.count > 0 else { return }
      // Another entry of the tag counts, too: the work has a limit as well as the block.
      rest -= count
      copy.add(tag, content)
    }
    return copy
  }

  /// The tags of the first directory that do not depend on the pixels.
  private static let described: Set<Int> = [
    0x010D, 0x010E, 0x010F, 0x0110, 0x0112, 0x011A, 0x011B, 0x0128, 0x0131, 0x0132, 0x013B, 0x013C, 0x4746, 0x8298,
  ]
  /// The tags of the exposure that have places in the file: notes of the maker, and another directory.
  private static let places: Set<Int> = [0x927C, 0xA005]
}
