import VitrineCaching
package import VitrineHTTP
#if VITRINE_APPLE
public import VitrineImaging
public import VitrineRuntime
#else
import VitrineRuntime
#endif

/// The default parts of a pipeline; this is the only file of the module that names a platform.
package enum PlatformDefaults {
  /// The loader that pipelines share by default, so that they share connections.
  static let loader: any DataLoader = SystemLoader()

  /// Creates a separate loader with this connection limit per host; it connects to nothing that the guard refuses.
  package static func loader(
    connectionsPerHost count: Int? = nil,
    guardedBy addressGuard: AddressGuard? = nil,
  ) -> any DataLoader {
    var options = SystemLoader.Options()
    options.connectionLimitPerHost = count ?? options.connectionLimitPerHost
    #if !VITRINE_APPLE
    options.connectionLimit = max(options.connectionLimit, options.connectionLimitPerHost)
    #endif
    options.addressGuard = addressGuard
    return SystemLoader(options)
  }

  /// Returns a fifth of the memory that the process may use, at most 768 MB.
  static func memoryCostLimit(of memory: Int) -> Int { min(memory / 5, 768 << 20) }

  /// Returns 300 MB, or a tenth of the free space if that is less, but at least 8 MB.
  static func diskSizeLimit(free: Int) -> Int { min(300 << 20, max(free / 10, 8 << 20)) }

  /// The program's cache in the user's cache folder, which pipelines share by default, since one folder has one cache.
  ///
  /// `nil` if it cannot be created.
  static let diskCache: DiskCache? = openDiskCache()

  private static func openDiskCache() -> DiskCache? {
    let folder = cacheFolder(
      environment: ProcessInfo.processInfo.environment,
      program: CommandLine.arguments.first ?? "",
    )
    // Free space is measured at the nearest folder that exists.
    var existing = folder
    while existing.pathComponents.count > 1, !FileManager.default.fileExists(atPath: existing.path) {
      existing.deleteLastPathComponent()
    }
    let free = SystemFiles().space(at: existing.path)?.free ?? .max
    return try? DiskCache(directory: folder, sizeLimit: diskSizeLimit(free: free))
  }

  /// Returns `$XDG_CACHE_HOME/<program>/vitrine` (XDG Base Directory Specification); on Apple platforms, a folder in
  /// Caches.
  static func cacheFolder(environment: [String: String], program: String) -> URL {
    let name = program.split(separator: "/").last.map(String.init) ?? "swift"
    return userCaches(environment).appending(path: name).appending(path: "vitrine")
  }

  /// Returns the folder for data that programs can recreate.
  package static func userCaches(_ environment: [String: String]) -> URL {
    #if VITRINE_APPLE
    // This folder is in the app's container, if it has one.
    return FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
      ?? URL(filePath: NSHomeDirectory()).appending(path: "Library/Caches")
    #else
    // The specification ignores paths that are not absolute.
    if let path = environment["XDG_CACHE_HOME"], path.hasPrefix("/") { return URL(filePath: path) }
    // Foundation asks the list of users first, not the environment.
    if let path = environment["HOME"], path.hasPrefix("/") { return URL(filePath: path).appending(path: ".cache") }
    return FileManager.default.homeDirectoryForCurrentUser.appending(path: ".cache")
    #endif
  }

  /// The folders of the program's own files, in search order.
  static var resourceFolders: [String] {
    #if VITRINE_APPLE
    [Bundle.main.resourcePath].compactMap { $0 }
    #else
    resourceFolders(
      environment: ProcessInfo.processInfo.environment,
      executable: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "",
    )
    #endif
  }

  #if !VITRINE_APPLE
  /// Returns the folder of the executable, then the data folders of the XDG Base Directory Specification.
  static func resourceFolders(environment: [String: String], executable: String) -> [String] {
    var parts = executable.split(separator: "/")
    guard let program = parts.popLast() else { return [] }
    // The specification ignores paths that are not absolute.
    let home =
      environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share").path
    let shared = (environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share")
      .split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    return ["/" + parts.joined(separator: "/")] + ([home] + shared).map { "\($0)/\(program)" }
  }
  #endif
}

#if VITRINE_APPLE
extension ImageRequest {
  /// Creates a request with the URL, method, header fields, body and time-out of a `URLRequest`.
  ///
  /// Its cache policy becomes the nearest ``cachePolicy``, and ``allowsExpensiveNetworkAccess`` is copied. A body that
  /// is a stream is not sent. A URL that cannot be loaded fails with ``LoadError/Code/invalidURL`` when it is loaded.
  public init(
    _ request: URLRequest,
    size: TargetSize? = nil,
    processors: [ImageProcessor] = [],
    priority: Priority = .normal,
  ) {
    if let http = try? HTTPRequest(request) {
      self.init(http, size: size, processors: processors, priority: priority)
      // A URLRequest has no limit, so only the pipeline's applies.
      maxResponseBytes = nil
    } else {
      let text = request.url?.absoluteString ?? ""
      self.init(url: text, size: size, processors: processors, priority: priority)
    }
    allowsExpensiveNetworkAccess = request.allowsExpensiveNetworkAccess
    switch request.cachePolicy {
    case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: cachePolicy = .reload
    case .reloadRevalidatingCacheData: cachePolicy = .maxAge(.zero)
    case .returnCacheDataElseLoad: cachePolicy = .cacheFirst
    case .returnCacheDataDontLoad: cachePolicy = .cacheOnly
    default: cachePolicy = .standard
    }
  }
}
#endif
