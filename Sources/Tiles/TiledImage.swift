public import Vitrine
import VitrineImaging
import VitrineRuntime

/// A picture of any size that is read a tile at a time.
///
/// ```swift
/// let image = try await pipeline.tiledImage(for: request)
/// for try await overview in image.overviews(maximum: 1024) { show(overview) }
/// let tile = try await image.tile(TiledImage.Tile(level: 0, column: 3, row: 2))
/// ```
/// The encoded file is in memory, but never the whole picture. The format of the file determines how a tile is made:
/// - Baseline JPEG has an index (`JPEGIndex`), made once for the first fine tile. The cost of a further one depends on its
///   pixels, and not on its place.
/// - Other formats have no random access. They are decoded in one pass from top to bottom, which makes the tiles of all
///   levels and stores them in `ImagePipeline.Configuration.diskCache`, also for the next run of the program. A tile
///   that has been evicted meanwhile starts another pass, which stores only the missing tiles. Without a disk cache,
///   the small levels stay in memory, and fine tiles are decoded anew.
/// - A drawing is drawn anew at each level.
///
/// **Pixels.** Level 0 has the pixels of the decoded picture. Each further level averages blocks of 2x2 pixels of the
/// previous one, counted from the top left as stored, within one 255th. For JPEG, the decoder does a part of the
/// averaging, so levels above 0 have a little less of the finest detail.
///
/// It is safe to use from any thread. Releasing it stops the remaining work.
public final class TiledImage: Sendable {
  /// The place of a tile.
  public struct Tile: Hashable, Sendable, CustomStringConvertible {
    /// The level; see ``TiledImage/levels``.
    public var level: Int
    /// The column, counted from 0 at the left.
    public var column: Int
    /// The row, counted from 0 at the top.
    public var row: Int

    /// Creates a place.
    ///
    /// A place outside the picture is rejected on use.
    public init(level: Int, column: Int, row: Int) {
      (self.level, self.column, self.row) = (level, column, row)
    }

    /// The place in the form `3, 2 at level 0`: column, row and level.
    public var description: String { "\(column), \(row) at level \(level)" }
  }

  /// The length of a tile's sides, in pixels; tiles at the right and bottom edges are smaller.
  public static let tileSize = TileGrid.side

  /// The facts of the file's header; `ImageInfo.width` and `ImageInfo.height` refer to the upright picture.
  public let info: ImageInfo
  private let reader: TileReader

  init(_ reader: TileReader) {
    (self.reader, info) = (reader, reader.info)
  }

  deinit { reader.stop() }

  /// The bytes of the file.
  package var source: PipelineResources.Source { reader.source }

  /// The origin of the file's bytes.
  public var origin: ImageResponse.Origin { reader.source.origin }

  /// A Boolean value that indicates whether the file's bytes were stale when they were read.
  public var isStale: Bool { reader.source.isStale }

  /// The reason why a part of the picture is missing, if `ImageRequest.acceptsPartial` allowed that; `nil` for a whole
  /// picture, and until a pass has found it, as it has when ``overviews(maximum:)`` ends.
  public var damage: ImageError? { reader.damage }

  /// The levels of the picture.
  ///
  /// Level 0 has the picture's own size, level n 1/2^n of it, and the last level fits into one tile. Drawings also have
  /// levels below 0: -1 is twice the size, and so on.
  public var levels: ClosedRange<Int> { reader.grid.levels }

  /// Returns the size of the whole picture at a level of ``levels``, in pixels; fractions are rounded up.
  ///
  /// Complexity: O(1).
  public func size(ofLevel level: Int) -> (width: Int, height: Int) { reader.grid.size(of: level) }

  /// Returns the number of tiles at a level of ``levels``, across and down.
  ///
  /// Complexity: O(1).
  public func tileCount(ofLevel level: Int) -> (columns: Int, rows: Int) { reader.grid.count(of: level) }

  /// Returns the upright pixels of a tile.
  ///
  /// Waits until the pixels have been decoded on the pipeline's threads or read from the disk, or until a running pass
  /// over the file has reached the tile. Equal calls share the work. If all their tasks are cancelled, the work stops;
  /// a pass continues, since it makes the other tiles, too.
  ///
  /// - Parameters:
  ///   - tile: The place.
  ///   - priority: The urgency of the work. Defaults to `Priority.normal`.
  /// - Returns: The pixels in the request's colour space: ``tileSize`` on each side, or fewer at the right and bottom
  ///   edges.
  /// - Throws: `LoadError`: `.undecodable` for damage, for a limit that is exceeded and for a place outside the
  ///   picture; `.overloaded`; `.cancelled`, at once, if the awaiting task is cancelled.
  public func tile(_ tile: Tile, priority: Priority = .normal) async throws(LoadError) -> Bitmap {
    defer { withExtendedLifetime(self) {} }
    return try await reader.tile(TilePlace(level: tile.level, column: tile.column, row: tile.row), priority)
  }

  /// Returns a part of the upright picture in a size, made of the tiles of the coarsest level that has as many pixels.
  ///
  /// It costs as much as the tiles.
  ///
  /// - Parameters:
  ///   - region: The part, within the picture at its own size.
  ///   - width: The width of the result in pixels, from 1 to the width of the part.
  ///   - height: The height, like `width`.
  ///   - priority: The urgency of the work. Defaults to `Priority.normal`.
  /// - Returns: The pixels.
  /// - Throws: `LoadError`, as ``tile(_:priority:)`` does.
  package func picture(
    of region: PixelRegion,
    width: Int,
    height: Int,
    priority: Priority = .normal,
  ) async throws(LoadError) -> Bitmap {
    defer { withExtendedLifetime(self) {} }
    return try await reader.picture(of: region, width: width, height: height, priority)
  }

  /// Returns the whole picture in a small size, as far as it is decoded while a pass over the file is running.
  ///
  /// The stream has at most ten pictures a second, in which the missing rows are transparent, and ends with the
  /// finished one. If the finished picture is available at once, it is the only one, and also if no pass is running: then it is
  /// decoded at this size, which costs a fraction of a pass. A slow reader gets only the newest picture. The stream retains the
  /// image.
  ///
  /// - Parameter maximum: The maximum length of the longer side, in pixels. Above 2,048 pixels the picture may be
  ///   smaller than requested, since it is meant to be shown until there are tiles.
  /// - Returns: The pictures. The stream throws a `LoadError`.
  public func overviews(maximum: Int) -> AsyncThrowingStream<Bitmap, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task { [self] in
        do throws(LoadError) {
          try await reader.overviews(maximum: max(1, maximum)) { continuation.yield($0) }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
        withExtendedLifetime(self) {}
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}
