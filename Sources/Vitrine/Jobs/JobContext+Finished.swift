import VitrineCaching
import VitrineRuntime

/// Images as they are shown, in the cache of bytes.
extension JobContext {
  /// Where an image may be found as it was shown before; `nil` where none of this kind is kept.
  func diskForFinished(_ request: ImageRequest, step: Int) -> (any DataCaching)? {
    guard request.policy != .reload, let disk = disk(for: request, .diskReads),
      isFinishedKept(request, step: step)
    else { return nil }
    return disk
  }

  private func isFinishedKept(_ request: ImageRequest, step: Int) -> Bool {
    guard !request.keepsEncodedData, request.isChanged(before: step), storage(of: request) != .original,
      case .url = request.resolvedSource.kind
    else { return false }
    return true
  }

  /// Keeps an image that was just made, if its request wants that.
  func keepFinished(_ image: CachedImage, of request: ImageRequest) {
    guard request.caches.contains(.diskWrites) else {
      return dropOutdatedFinished(request, by: image.contentID)
    }
    guard let diskCache, !request.keepsEncodedData, case .url = request.resolvedSource.kind,
      storage(of: request).keepsFinished(
        image,
        isProcessed: !request.processors.isEmpty,
        isResized: request.isChanged,
      ), delegate?.keepsFinished(image.response, for: request) ?? true
    else { return }
    let (key, now, queue) = (request.keys.image, clock.now, processQueue)
    pendingWrites.add(for: key) {
      // What is large is encoded first, which takes a while.
      guard let entry = try? await queue.run(priority: .veryLow, { _ in FinishedImage.entry(of: image, stored: now) })
      else { return }
      await diskCache.store(entry, for: key)
    }
  }

  /// Lets a kept image be fresh for as long as the one that has just been confirmed.
  func renewFinished(_ image: CachedImage, of request: ImageRequest) {
    guard request.policy != .reload, let disk = disk(for: request, .diskWrites),
      isFinishedKept(request, step: request.processors.count)
    else { return }
    let (key, expires) = (request.keys.image, image.validity.expires)
    pendingWrites.add(for: key) {
      await disk.renew(
        key,
        contentID: image.contentID,
        expires: expires,
        metadata: FinishedImage.metadata(of: image),
      )
    }
  }
}

extension ImageRequest {
  /// Whether anything is done to the image but to decode it.
  var isChanged: Bool { isChanged(before: processors.count) }

  func isChanged(before step: Int) -> Bool { step > 0 || size != nil || frame > 0 }
}
