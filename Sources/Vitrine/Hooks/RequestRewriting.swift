extension ImageRequest {
  /// Returns the request after the delegate's changes, with its keys; the only call of `willLoad(_:)`.
  ///
  /// Every look-up and load begins with this, so that all have the same keys, and so that closures that keys may need
  /// are called here, under no lock.
  func prepared(by delegate: (any PipelineDelegate)?) -> ImageRequest {
    var request = rewritten(by: delegate)
    if request.forbidsStoring { request.cacheAccess.subtract([.memoryWrites, .diskWrites]) }
    _ = request.keys
    for alternative in request.alternatives ?? [] { _ = alternative.keys }
    return request
  }

  private func rewritten(by delegate: (any PipelineDelegate)?) -> ImageRequest {
    guard let delegate, !isPrepared else { return self }
    guard let alternatives else {
      var rewritten = delegate.willLoad(self)
      // Unchanged, it has its keys already.
      guard !rewritten.isCopy(of: self) else { return self }
      rewritten.isPrepared = true
      return rewritten
    }
    let rewritten = alternatives.map { $0.rewritten(by: delegate) }
    guard !zip(rewritten, alternatives).allSatisfy({ $0.isCopy(of: $1) }) else { return self }
    var request = self
    request.isPrepared = true
    request.setAlternatives(rewritten)
    return request
  }
}
