import Vitrine
import VitrineCaching
import VitrineRuntime

/// The folder of the disk cache, from the options or the environment.
struct CacheFolder {
  static let options: [Option] = [.cacheFolder, .sizeLimit]
  static let standardLimit = 300 << 20

  /// The state of a folder before it is opened as a cache.
  enum State {
    case missing, empty, cache, foreign
  }

  let path: String
  /// Set if the command line names the folder.
  let isGiven: Bool
  /// The maximum size of the cache, in bytes.
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

  /// The error for a folder that has other contents.
  static let foreign = FileError("the folder contains other files and is not a cache; left unchanged")

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
    // A process killed during creation leaves only these.
    return names.allSatisfy { ["lock", "format.tmp"].contains($0) } ? .empty : .foreign
  }

  /// Opens the cache for reading and writing, and creates it if it is missing.
  func open(
    limit: Int,
    warn: @escaping @Sendable (String) -> Void = { _ in },
  ) throws(FileError) -> DiskCache {
    // A cache removes unknown files from its folder.
    guard try state() != .foreign else { throw Self.foreign }
    do throws(DiskCacheError) {
      return try DiskCache(directory: url, sizeLimit: limit, warn: warn)
    } catch {
      throw FileError("cannot create a cache: \(error.reason)")
    }
  }

  /// Opens the cache read-only, even if another process writes to it, or returns `nil` if there is none.
  func openForReading() throws(FileError) -> DiskCache? {
    switch try state() {
    case .missing, .empty: return nil
    case .foreign: throw FileError("the folder contains other files and is not a cache")
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
