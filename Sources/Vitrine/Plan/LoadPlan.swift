import VitrineCaching
import VitrineHTTP
import VitrineRuntime

/// What is to be done for an image: where to begin, and which processors to run on that.
///
/// A pure function of the request, of what was found, and of the time: jobs carry it out, `explain` prints it, tests have a
/// table of it. Where the findings change it is made anew.
struct LoadPlan: Sendable {
  /// What is done with an image that is at hand.
  enum Use: Sendable, Equatable {
    /// It is served.
    case serve(isStale: Bool)
    /// It is served although it is stale, and its server asked behind it.
    case serveAndRevalidate
    /// Its bytes are asked for; where they are the same it is served, else it is made anew.
    case confirm
  }

  /// What an image is made of.
  enum Base: Sendable {
    /// The image itself, in memory.
    case memory(LoadedImage, Use)
    /// The image itself, on disk as it is shown.
    case finished(Findings.Finished, Use)
    /// A larger image in memory.
    case larger(LargerVariant)
    /// Its bytes, which are decoded.
    case bytes
  }

  let base: Base
  /// The number of processors that the base has been through; the others are run.
  let step: Int
  /// What is on disk and was made of other bytes than those that are there now.
  let orphans: [CacheKey]

  /// `last` is the number of processors that are to be run, `fields` are the fields that would be sent.
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
        let validity = finished.validity, validity.answers(fields())
      {
        (base, self.step) = (.finished(finished, Use(of: validity, request, now)), step)
        return
      }
    }
    (base, step) = (.bytes, 0)
  }
}

extension LoadPlan.Use {
  /// That of an image in memory; `nil` where nobody could confirm it.
  fileprivate init?(of image: LoadedImage, _ request: ImageRequest, _ now: Date) {
    self.init(of: image.validity, request, now)
    switch self {
    // Who says that its age does not matter is not told that it is over.
    case .serve: self = .serve(isStale: false)
    case .serveAndRevalidate: break
    case .confirm: if image.contentID == .none { return nil }
    }
  }

  fileprivate init(of validity: Validity, _ request: ImageRequest, _ now: Date) {
    if request.cachePolicy != .reload, validity.isFresh(at: now, request.cachePolicy) {
      // An age that the request names takes the place of what the server said.
      let isOverdue = validity.expires.map { $0 <= now } ?? false
      if case .maxAge = request.cachePolicy { self = .serve(isStale: false) } else { self = .serve(isStale: isOverdue) }
    } else {
      self = validity.isUsableWhileRevalidating(at: now, request) ? .serveAndRevalidate : .confirm
    }
  }
}
