import Vitrine
import VitrineCaching
import VitrineRuntime

/// The folder of the disk cache, as the options or the environment name it.
struct CacheFolder {
  static let options: [Option] = [.cacheFolder, .sizeLimit]
  static let standardLimit = 300 << 20

  /// What a folder is before anyone opens it as a cache.
  enum State {
    case missing, empty, cache, foreign
  }

  let path: String
  /// Whether the command line names it.
  let isGiven: Bool
  /// How many bytes it may take up.
  let limit: Int

  init(_ arguments: Arguments) throws(UsageError) {
    let given = try arguments.text(.cacheFolder)
    guard given != "" else { throw UsageError("--cache-dir takes the path of a folder") }
    path = given ?? Self.standardPath
    isGiven = given != nil
    limit = try arguments.byteCount(.sizeLimit) ?? Self.standardLimit
  }

  private static var standardPath: String {
    PlatformDefaults.userCaches(ProcessInfo.processInfo.environment).appending(path: "vitrine").path
  }

  /// The folder is somebody's who keeps other things there.
  static let foreign = FileError("the folder holds other files and is no cache; nothing was done to it")

  private var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

  func state() throws(FileError) -> State {
    var info = stat()
    // `info` outlives the call.
    guard unsafe stat(path, &info) == 0 else {
      if errno == ENOENT { return .missing }
      throw FileError(code: errno)
    }
    guard info.st_mode & S_IFMT == S_IFDIR else { throw FileError(code: ENOTDIR) }
    guard unsafe access(path, R_OK | X_OK) == 0 else { throw FileError(code: errno) }
    let names = try SystemFiles().names(in: path)
    if names.contains("format") { return .cache }
    // A process that was killed at once has left no more than these.
    return names.allSatisfy { ["lock", "format.tmp"].contains($0) } ? .empty : .foreign
  }

  /// Opens it for reading and writing; makes it where it is missing.
  func open(
    limit: Int,
    warn: @escaping @Sendable (String) -> Void = { _ in },
  ) throws(FileError) -> DiskCache {
    // What a cache finds in its folder and does not know it removes.
    guard try state() != .foreign else { throw Self.foreign }
    do throws(DiskCacheError) {
      return try DiskCache(directory: url, sizeLimit: limit, warn: warn)
    } catch {
      throw FileError("no cache can be made there: \(error.reason)")
    }
  }

  /// Opens it for looking only, beside whoever writes to it; `nil` where there is none.
  func openForReading() throws(FileError) -> DiskCache? {
    switch try state() {
    case .missing, .empty: return nil
    case .foreign: throw FileError("the folder holds other files and is no cache")
    case .cache: break
    }
    var options = DiskOptions(sizeLimit: limit)
    options.readsOnly = true
    do throws(DiskCacheError) {
      return try DiskCache(directory: url, options: options, files: SystemFiles(), clock: .system)
    } catch {
      throw FileError(error.reason)
    }
  }
}
