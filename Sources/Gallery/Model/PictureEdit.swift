package import VitrineImaging
package import VitrineRuntime

/// The changes of a picture that are shown and may be saved: the part that is kept, and its turn.
package struct PictureEdit: Sendable, Equatable {
  /// The quarter turns, clockwise, after the mirror.
  package var turns: Int
  /// True if left and right change places.
  package var isMirrored: Bool
  /// The part that is kept, in pixels of the upright picture before it is mirrored and turned; `nil` for all of it.
  package var part: PixelRegion?

  package init(turns: Int = 0, isMirrored: Bool = false, part: PixelRegion? = nil) {
    (self.turns, self.isMirrored, self.part) = (turns, isMirrored, part)
  }

  /// True if nothing changes.
  package var isEmpty: Bool { turns == 0 && !isMirrored && part == nil }

  /// The transform from the upright picture to the turned one.
  package var orientation: Orientation {
    // A mirror before quarters clockwise is the same as quarters counter-clockwise before the mirror.
    Orientation(turns: isMirrored ? turns : -turns, isMirrored: isMirrored)
  }

  /// The processors that make the changes.
  package var processors: [ImageProcessor] {
    var steps: [ImageProcessor] = []
    if let part { steps.append(.crop(part)) }
    if isMirrored { steps.append(.flip(.horizontal)) }
    if turns != 0 { steps.append(.rotate(quarterTurns: turns)) }
    return steps
  }
}

/// A file whose picture is changed.
package struct EditedFile: Sendable {
  package let data: Data
  package let info: ImageInfo
  /// The version of the file that was read.
  package let version: String?
  private let limits: DecodeLimits
  /// The blocks of a JPEG.
  private let units: JPEGUnits?

  /// Reads a file; blocks.
  ///
  /// - Throws: `FileError`, or ``ImageError`` for a file whose header cannot be read, and for a JPEG that is too large or has a
  ///   second picture, which would be lost.
  package init(_ path: String, _ decoders: DecoderRegistry, _ limits: DecodeLimits) throws {
    version = FolderListing.item(at: path)?.version
    data = try FileContents.at(ByteString(fileText: path))
    info = try decoders.info(of: data, limits: limits)
    units = info.format == .jpeg ? try JPEGUnits(data, limits: limits) : nil
    self.limits = limits
  }

  /// Returns the file with the changes if that needs no new encoding, otherwise `nil`; blocks.
  ///
  /// - Throws: ``ImageError`` if the file is damaged.
  package func changed(by edit: PictureEdit) throws(ImageError) -> Data? {
    guard info.format == .jpeg else { return nil }
    return try JPEGTurn(info.orientation, then: edit.orientation).turned(data, keeping: edit.part, limits: limits)
  }

  /// Returns the nearest part that the file can keep without a new encoding.
  ///
  /// - Parameters:
  ///   - edit: The changes, with the part.
  ///   - keepsSize: A Boolean value that indicates whether the part is moved, and not enlarged.
  /// - Returns: The part; `nil` if there is none.
  package func losslessPart(of edit: PictureEdit, keepsSize: Bool) -> PixelRegion? {
    guard let part = edit.part, let units else { return nil }
    return units.nearest(to: part, JPEGTurn(info.orientation, then: edit.orientation), keepsSize: keepsSize)
  }

  /// The encoding for a file that is written again; `nil` if that would lose colours.
  package var encoding: ImageEncoding? {
    let row = info.format.row
    guard row.isWritten, info.bitsPerComponent <= 8, info.dynamicRange == .standard else { return nil }
    var encoding =
      row.loss == .always
      ? ImageEncoding(info.format, quality: 95) : ImageEncoding(info.format, isLossless: row.loss == .either)
    encoding.metadata = .keep
    return encoding
  }

  /// True if a new encoding loses nothing.
  package var isLossless: Bool { info.format.row.loss == .never || info.format.row.loss == .either }
}
