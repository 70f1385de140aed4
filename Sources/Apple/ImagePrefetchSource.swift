#if !os(macOS) && !os(watchOS)
public import UIKit
public import Vitrine

/// Prefetches the images of a table's or collection's next rows.
///
/// ```swift
/// let source = ImagePrefetchSource { path in photos[path.item].request }
/// collectionView.prefetchDataSource = source  // a weak reference: keep the source
/// ```
/// The requests must be those that the cells load, with their sizes: an image of another size is another one in memory.
/// Nothing is prefetched while the device saves power.
@MainActor
public final class ImagePrefetchSource: NSObject {
  /// The prefetcher.
  public let prefetcher: ImagePrefetcher
  private let request: (IndexPath) -> ImageRequest?
  /// The requests that are running or waiting; a row may have another one by the time it is cancelled.
  private var begun: [IndexPath: ImageRequest] = [:]
  private var power: LowPowerWatch?

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline. Defaults to the shared one.
  ///   - destination: The destination of the images. Defaults to memory.
  ///   - request: Returns the request of a row; `nil` for a row without an image.
  public init(
    _ pipeline: ImagePipeline = .shared,
    destination: ImagePrefetcher.Destination = .memory,
    request: @escaping (IndexPath) -> ImageRequest?,
  ) {
    prefetcher = ImagePrefetcher(pipeline, destination: destination)
    self.request = request
    super.init()
    power = LowPowerWatch { [prefetcher] in prefetcher.isPaused = $0 }
  }

  private func start(_ paths: [IndexPath]) {
    let former = paths.compactMap { begun.removeValue(forKey: $0) }
    let requests = paths.compactMap { path in
      let request = request(path)
      begun[path] = request
      return request
    }
    prefetcher.start(requests) { [weak self] request, result in
      // A request that was stopped may have begun again.
      if case .failure(let error) = result, error.code == .cancelled { return }
      Task { @MainActor in self?.ended(request) }
    }
    // A row that has another image now has no use for the former one.
    leave(former)
  }

  private func stop(_ paths: [IndexPath]) { leave(paths.compactMap { begun.removeValue(forKey: $0) }) }

  /// Stops requests, unless another row has the same image.
  private func leave(_ requests: [ImageRequest]) {
    guard !requests.isEmpty else { return }
    let wanted = Set(begun.values)
    prefetcher.stop(requests.filter { !wanted.contains($0) })
  }

  /// Forgets a request that needs no stop any more: of rows that are shown, none is cancelled.
  private func ended(_ request: ImageRequest) { begun = begun.filter { $0.value != request } }
}

extension ImagePrefetchSource: UICollectionViewDataSourcePrefetching {
  /// Prefetches the images of items.
  public func collectionView(_ collectionView: UICollectionView, prefetchItemsAt indexPaths: [IndexPath]) {
    start(indexPaths)
  }

  /// Stops prefetching the images of items.
  public func collectionView(
    _ collectionView: UICollectionView,
    cancelPrefetchingForItemsAt indexPaths: [IndexPath],
  ) {
    stop(indexPaths)
  }
}

extension ImagePrefetchSource: UITableViewDataSourcePrefetching {
  /// Prefetches the images of rows.
  public func tableView(_ tableView: UITableView, prefetchRowsAt indexPaths: [IndexPath]) { start(indexPaths) }

  /// Stops prefetching the images of rows.
  public func tableView(_ tableView: UITableView, cancelPrefetchingForRowsAt indexPaths: [IndexPath]) {
    stop(indexPaths)
  }
}
#endif
