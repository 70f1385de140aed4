import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

extension ImageRequest {
  /// The request as a delegate would have it; the one place where it is asked.
  ///
  /// Whatever looks for or loads something by a request begins with this, so that all have the same keys.
  func prepared(by delegate: (any PipelineDelegate)?) -> ImageRequest {
    guard let delegate, !isPrepared else { return self }
    guard let alternatives else {
      var rewritten = delegate.willLoad(self)
      // As it was, it has its keys already.
      guard !rewritten.isCopy(of: self) else { return self }
      rewritten.isPrepared = true
      return rewritten
    }
    let rewritten = alternatives.map { $0.prepared(by: delegate) }
    guard !zip(rewritten, alternatives).allSatisfy({ $0.isCopy(of: $1) }) else { return self }
    var request = self
    request.isPrepared = true
    request.setAlternatives(rewritten)
    return request
  }
}

/// What a delegate says to the pipeline's work.
extension JobContext {
  private static let firstByteCount = 4096

  /// What decodes these bytes.
  func decoders(for request: ImageRequest, of data: Data) -> DecoderRegistry {
    guard let delegate else { return decoders }
    return delegate.decoders(for: request, firstBytes: Data(data.prefix(Self.firstByteCount))) ?? decoders
  }

  /// What decodes a body that is still on its way; `nil` until enough of it is there to say.
  func decoders(for request: ImageRequest, arriving body: Data) -> DecoderRegistry? {
    delegate != nil && body.count < Self.firstByteCount ? nil : decoders(for: request, of: body)
  }

  /// Keeps bytes that came from a server, as far as the delegate lets it; where there is none the disk may have them already.
  func keepOriginal(
    _ entry: CachedData,
    for key: CacheKey,
    of request: ImageRequest,
    _ response: HTTPResponse,
    recorded recording: BodyRecording?,
  ) {
    guard let diskCache else { return }
    guard let delegate else {
      return pendingWrites.add(for: key) {
        if await recording?.seal(entry) != true { await diskCache.store(entry, for: key) }
      }
    }
    pendingWrites.add(for: key) { [self] in
      do {
        let kept = try await processQueue.run(priority: .veryLow) { [self] _ -> CachedData? in
          guard let data = delegate.willStore(entry.data, for: request, response: response) else { return nil }
          var kept = entry
          kept.data = data
          return data == entry.data || isSamePicture(data, as: entry.data, request) ? kept : nil
        }
        // What is there of an earlier answer would be served in place of what nobody may keep.
        if let kept { await diskCache.store(kept, for: key) } else { await diskCache.remove(key) }
      } catch {
        // The queue takes no more: it is not kept this time.
      }
    }
  }

  /// Whether both headers promise the same, or neither is one of an image.
  private func isSamePicture(_ data: Data, as original: Data, _ request: ImageRequest) -> Bool {
    let kept = try? decoders(for: request, of: data).info(of: data)
    let known = try? decoders(for: request, of: original).info(of: original)
    return kept?.width == known?.width && kept?.height == known?.height && kept?.frameCount == known?.frameCount
  }
}
