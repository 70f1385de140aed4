import VitrineRuntime

extension DecoderRegistry {
  /// Returns `true` if the top of an embedded thumbnail looks like the top of the image.
  ///
  /// A program that changes an image may keep the old thumbnail, and a stranger may embed any. Only the first rows of
  /// the image are decoded, about a sixteenth of it, so that the thumbnail is still worth its while. An image that has
  /// only begun to arrive is compared as far as it goes; without a row the thumbnail is not used.
  func showsSame(
    _ thumbnail: Data,
    as image: LocalImage,
    _ request: RowRequest,
  ) throws(ImageError) -> Bool {
    // The rows of other images do not come one by one.
    guard request.info.streamsRows else { return true }
    let coarse = RowRequest(
      info: request.info,
      minimumScale: min(request.minimumScale, 1 / 8),
      limits: request.limits,
      control: request.control,
    )
    guard let whole = try strip(of: image, coarse, share: 1) else { return false }
    let other = try? find(thumbnail, request.limits) { (image) throws(ImageError) -> Result<Strip?, ImageError>? in
      guard case .local(let image) = image, image.header.format == .jpeg else { return nil }
      let request = RowRequest(
        info: image.header,
        minimumScale: 1,
        limits: request.limits,
        control: request.control,
      )
      do throws(ImageError) {
        return .success(try strip(of: image, request, share: whole.share))
      } catch {
        return .failure(error)
      }
    }
    // A header that cannot be read is reported when the thumbnail is decoded as a whole, or not at all.
    return try other?.get().map { whole.isLike($0) } ?? false
  }

  /// Reads the first rows of an image; returns `nil` if there is none.
  ///
  /// `share` is the part of a sixteenth of the image that is needed, from 0 to 1.
  private func strip(of image: LocalImage, _ request: RowRequest, share: Double) throws(ImageError) -> Strip? {
    do throws(ImageError) {
      guard let rows = try image.open(request) else { return nil }
      // The thumbnail is stored as the image is.
      guard !rows.isUpright || request.info.orientation == .up else { return nil }
      let wanted = max(1, Int((Double(rows.height) / 16 * share).rounded(.up)))
      return try Strip(rows, count: wanted, of: max(1, (rows.height + 15) / 16), request.control)
    } catch {
      guard error.code == .cancelled || error.code == .outOfTime else { return nil }
      throw error
    }
  }
}

/// The mean colours of the first rows of a picture, from left to right.
private struct Strip {
  private static let cellCount = 8
  /// The largest mean difference of two pictures of the same thing, in levels.
  ///
  /// Thumbnails are smaller, coarser and at times sharpened, which changes the mean of an eighth of the width little.
  private static let tolerance = 32.0

  /// The part of the requested rows that were read.
  let share: Double
  private var sums = [SIMD4<Double>](repeating: .zero, count: cellCount)
  private var counts = [Double](repeating: 0, count: cellCount)

  init?(_ source: any RowSource, count: Int, of most: Int, _ control: DecodeControl) throws(ImageError) {
    let bytesPerRow = source.width * 4
    let memory = OwnedElements<UInt8>(repeating: 0, count: bytesPerRow * count)
    let rows = memory.elements
    var row = 0
    while row < count {
      do throws(ImageError) {
        try control.check()
        let most = min(16, count - row)
        let rest = rows.rows(from: row, count: most, width: source.width)
        let got = try source.read(into: rest, bytesPerRow: bytesPerRow, count: most)
        guard got > 0 else { break }
        row += got
      } catch {
        guard error.code == .truncated, row > 0 else { throw error }
        break
      }
    }
    guard row > 0 else { return nil }
    share = Double(row) / Double(most)
    for offset in 0..<row * source.width {
      let cell = offset % source.width * Self.cellCount / source.width
      sums[cell] += SIMD4<Double>(rows.four(at: offset * 4))
      counts[cell] += 1
    }
  }

  /// Returns `true` if the colours are about the same as `other`'s.
  func isLike(_ other: Strip) -> Bool {
    var (difference, cells) = (0.0, 0.0)
    for cell in 0..<Self.cellCount where counts[cell] > 0 && other.counts[cell] > 0 {
      let gap = sums[cell] / counts[cell] - other.sums[cell] / other.counts[cell]
      difference += (abs(gap.x) + abs(gap.y) + abs(gap.z)) / 3
      cells += 1
    }
    return cells > 0 && difference / cells <= Self.tolerance
  }
}
