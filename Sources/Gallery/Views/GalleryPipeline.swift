import Vitrine
import VitrineCaching
import VitrineGalleryModel
import VitrineRuntime
import VitrineSandbox

/// The pipelines of the gallery, with all formats that there are, over the same caches.
struct GalleryPipeline {
  /// The pixels that are kept in memory, in bytes, by the cache and an open photograph.
  static let memoryLimit = 128 << 20
  /// The pixels of an open photograph, in bytes: more than a display of 4K shows.
  static let photographLimit = 64 << 20
  /// The tiles of a photograph of 100 megapixels take about 200 MB.
  private static let diskLimit = 1 << 30
  /// The time that a picture of the grid may take: a file that a decoder does not get done with must not hold up others.
  private static let cellTimeLimit = Duration.seconds(5)

  /// That of the grid.
  let pipeline: ImagePipeline
  /// That of an open photograph, which may take longer.
  let photographs: ImagePipeline
  let memory: MemoryCache<CachedImage>
  /// The cache to close before the program ends; `nil` if the folder cannot be used.
  let disk: DiskCache?

  init(cacheFolder: URL) {
    let memory = MemoryCache<CachedImage>(costLimit: Self.memoryLimit)
    // Another gallery may be using the folder; pictures are shown without it, too.
    let disk = try? DiskCache(directory: cacheFolder, sizeLimit: Self.diskLimit)
    (self.memory, self.disk) = (memory, disk)
    pipeline = Self.make(memory, disk)
    photographs = Self.make(memory, disk, timeLimit: nil)
  }

  /// Makes a pipeline like the grid's.
  static func make(
    _ memory: MemoryCache<CachedImage>,
    _ disk: DiskCache?,
    timeLimit: Duration? = cellTimeLimit,
  ) -> ImagePipeline {
    ImagePipeline(.ephemeral) {
      $0.memoryCache = memory
      $0.diskCache = disk
      $0.decoders = codecs.decoders
      $0.encoders = codecs.encoders
      // Photographs of any kind: all coefficients of a progressive JPEG of 100 megapixels take 300 to 600 MB.
      $0.decodeLimits.heldPixelCount = 250_000_000
      $0.decodeLimits.memoryByteCount = min(1_000_000_000, MemoryLimit.bytes / 2)
      $0.decodeLimits.timeLimit = timeLimit
    }
  }

  /// The decoders of the gallery: in the program, and of external formats in workers.
  static let decoders = codecs.decoders
  private static let codecs = ExternalCodecs()

  /// Makes room in memory for an open photograph, or gives it back to the pictures of the grid.
  func makeRoom(forPhotograph isOpen: Bool) {
    memory.costLimit = Self.memoryLimit - (isOpen ? Self.photographLimit : 0)
  }

  /// `$XDG_CACHE_HOME/vitrine-gallery`.
  static var defaultFolder: URL {
    PlatformDefaults.userCaches(ProcessInfo.processInfo.environment).appending(path: "vitrine-gallery")
  }
}

extension GalleryItem {
  /// The picture of a folder without pictures: one transparent pixel.
  private static let nothing = Data(
    base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNgYAAAAAMAASsJTYQAAAAASUVORK5CYII="
  )

  /// The request of the picture, without a size.
  var request: ImageRequest {
    var request: ImageRequest
    switch place {
    case .file(let path):
      request =
        path.hasPrivateBytes
        ? ImageRequest(.closure(id: path) { try FileContents.at(ByteString(fileText: path)) })
        : ImageRequest(.file(path))
      // Another version of a file is another picture to the caches. The disk keeps small pictures of large files.
      (request.cachePartition, request.storagePolicy) = (version, .automatic)
    case .url(let text):
      request = ImageRequest(url: text)
      // A server that hangs is a message with a button before the user gives up.
      request.timeouts.idle = .seconds(15)
    case .folder(let path):
      request = ImageRequest(
        .closure(id: path) {
          guard let cover = FolderListing.cover(of: path)?.path else { return Self.nothing ?? Data() }
          return try FileContents.at(ByteString(fileText: cover))
        }
      )
      request.cachePartition = version
    }
    request.acceptsPartial = true
    return request
  }
}
