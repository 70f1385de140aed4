import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// The plan for an image: where to begin, and which processors to run.
///
/// The plan is a pure function of the request, the findings and the time. Loads carry it out, `explain` prints it, and
/// tests check it by table. It is made again when the findings change.
struct LoadPlan: Sendable {
  /// The use of a cached image.
  enum Use: Sendable, Equatable {
    /// Serve it.
    case serve(isStale: Bool)
    /// Serve it stale and revalidate it in the background.
    case serveAndRevalidate
    /// Revalidate its bytes; serve it if they are unchanged, else make it again.
    case confirm
  }

  /// The beginning of a plan.
  enum Base: Sendable {
    /// The image itself, in memory.
    case memory(LoadedImage, Use)
    /// The finished image on disk.
    case finished(Findings.Finished, Use)
    /// A larger variant in memory.
    case larger(LargerVariant)
    /// The bytes, to be decoded.
    case bytes
  }

  let base: Base
  /// A Boolean value that indicates whether the image is made from its bytes.
  var isOfBytes: Bool { if case .bytes = base { true } else { false } }
  /// The number of processors that the base has been through; the other processors are run.
  let step: Int
  /// The finished images on disk that were made from other bytes than the original on disk.
  let orphans: [CacheKey]

  /// Creates a plan; `last` is the number of processors to run, `fields` are the fields that would be sent.
  init(
    _ request: ImageRequest,
    upTo last: Int,
    _ findings: Findings,
    fields: @autoclosure () -> HTTPFields,
    now: Date,
  ) {
    orphans = findings.finished.isEmpty ? [] : findings.finished.filter(findings.isOrphan).map(\.key)
    for step in stride(from: last, through: 0, by: -1) {
      if let known = findings.known, known.step == step, let use = Use(of: known.image, request, now) {
        (base, self.step) = (.memory(known.image, use), step)
        return
      }
      if step == 0, let larger = findings.larger {
        (base, self.step) = (.larger(larger), 0)
        return
      }
      if let finished = findings.finished.first(where: { $0.step == step }), !findings.isOrphan(finished),
        !request.isExact || !finished.isApproximate, let validity = finished.validity, validity.answers(fields())
      {
        (base, self.step) = (.finished(finished, Use(of: validity, request, now)), step)
        return
      }
    }
    (base, step) = (.bytes, 0)
  }
}

extension LoadPlan.Use {
  /// Creates the use of an image in memory; returns `nil` if the image cannot be revalidated.
  fileprivate init?(of image: LoadedImage, _ request: ImageRequest, _ now: Date) {
    self.init(of: image.validity, request, now)
    switch self {
    // A request that ignores the age is served without a stale mark.
    case .serve: self = .serve(isStale: false)
    case .serveAndRevalidate: break
    case .confirm: if image.contentID == .none { return nil }
    }
  }

  init(of validity: Validity, _ request: ImageRequest, _ now: Date) {
    if request.cachePolicy != .reload, validity.isFresh(at: now, request) {
      // A maximum age in the request replaces the server's.
      let isOverdue = validity.expires.map { $0 <= now } ?? false
      if case .maxAge = request.cachePolicy { self = .serve(isStale: false) } else { self = .serve(isStale: isOverdue) }
    } else {
      self = validity.isUsableWhileRevalidating(at: now, request) ? .serveAndRevalidate : .confirm
    }
  }
}
