import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// What is at hand for a request at one moment, everywhere.
struct Findings: Sendable {
  /// An image in memory after some of the request's processors.
  struct InMemory: Sendable {
    let image: LoadedImage
    let step: Int
  }

  /// An image on disk as it is shown after some of the request's processors; its pixels are not read yet.
  struct Finished: Sendable {
    let key: CacheKey
    let step: Int
    let contentID: ContentID
    /// `nil` where its metadata cannot be read.
    let validity: Validity?
  }

  /// The bytes of the source on disk, without the bytes.
  struct Original: Sendable {
    let contentID: ContentID
    /// The answer that brought them; `nil` where its metadata cannot be read.
    let stored: StoredResponse?
  }

  /// Of the images in memory after some of the processors, the one after the most of them.
  var known: InMemory?
  /// A larger unprocessed image in memory.
  var larger: LargerVariant?
  /// The images on disk, those after more processors first.
  var finished: [Finished] = []
  /// The bytes on disk.
  var original: Original?
  /// Whether ``finished`` and ``original`` have been looked for.
  var hasLookedUp = false
  /// What is left of a download that broke off.
  var partial: Resumption?
  /// Why the source could not be loaded lately, while asking again is not worth it.
  var failure: LoadError?
  /// Why the URL may not be asked at all.
  var objection: String?
  /// What the network is good for.
  var access = NetworkAccess.full

  /// Whether an image was made of other bytes than those that are there now.
  func isOrphan(_ image: Finished) -> Bool { original.map { $0.contentID != image.contentID } ?? false }
}

extension Findings.Original {
  init(_ contentID: ContentID, metadata: Data) {
    self.init(contentID: contentID, stored: StoredResponse(encoded: metadata))
  }
}

extension JobContext {
  /// Finds what memory has for a request after some of its processors; not counted as use.
  ///
  /// - Returns: The findings, and what else was looked at: to be released with no lock held.
  func findingsInMemory(
    _ request: ImageRequest,
    step: Int,
    at now: Date,
  ) -> (findings: Findings, rest: [MemoryCache<CachedImage>.Variant]) {
    var findings = Findings()
    guard let memory = memory(for: request, .memoryReads) else { return (findings, []) }
    let keys = request.keys
    let variants = memory.variants(of: keys.fetch)
    guard !variants.isEmpty else { return (findings, []) }
    let isReload = request.cachePolicy == .reload
    for known in (0...step).reversed() where findings.known == nil {
      let key = keys.key(step: known)
      guard let variant = variants.first(where: { $0.key == key }),
        variant.value.validity.answers(fields(of: request)),
        // What nobody could confirm is of no use to who wants it anew.
        !isReload || variant.value.contentID != .none
      else { continue }
      findings.known = Findings.InMemory(image: variant.value.loaded, step: known)
    }
    if !isReload, findings.known == nil {
      findings.larger = largerVariant(of: request, among: variants, at: now)
    }
    return (findings, variants)
  }
}
