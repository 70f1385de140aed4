extension ImagePipeline {
  /// Forgets everything made from a request's source, and has the views that show or load it load it again.
  ///
  /// Call it when the picture at a URL has changed:
  /// ```swift
  /// try await upload(avatar, to: url)
  /// await ImagePipeline.shared.refresh(url)
  /// ```
  /// - The source is removed from all caches, as by ``PipelineCache/remove(_:in:)-(ImageRequest,_)``. Loads that began
  ///   before still deliver their image, but no cache stores it, and no later load joins them.
  /// - Each ``ImageSlot`` of this pipeline that shows or loads the source, in any size, reloads it
  ///   (``ImageSlot/reload()``). It keeps its picture meanwhile, and also if the reload fails. A slot that is not
  ///   visible reloads when it becomes visible.
  /// - Each ``ImagePrefetcher`` begins the running loads of the source anew.
  ///
  /// The reload of a slot asks caches on the way to revalidate, too (`Cache-Control: no-cache`). Other loads send their
  /// ordinary request, which such a cache may answer, unless their ``ImageRequest/cachePolicy`` is `.reload`.
  ///
  /// Returns when the caches have removed the source; slots reload afterwards, on their main loop. Cancelling the
  /// awaiting task stops neither. Complexity: O(n) in the number of running loads and of slots.
  public func refresh(_ request: ImageRequest) async {
    await cache.remove(request)
    let prepared = context.prepared(request)
    let sources = (prepared.alternatives ?? [prepared]).map(\.keys)
    context.refreshes.notify { [context] request in
      let keys = context.prepared(request).keys
      return sources.contains { keys.mayUse($0) }
    }
  }

  /// Forgets everything made from the image at a URL, and has views load it again; see
  /// ``refresh(_:)-(ImageRequest)``.
  public func refresh(_ url: some URLConvertible) async { await refresh(ImageRequest(url.imageSource)) }
}
