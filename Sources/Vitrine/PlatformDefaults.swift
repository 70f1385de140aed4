import VitrineHTTP
import VitrineRuntime

/// What a pipeline is made of where nothing else is said: the one file of the room that names a platform.
enum PlatformDefaults {
  /// Shared by all pipelines, so that they share its connections.
  static let loader: any DataLoader = CurlLoader()
}
