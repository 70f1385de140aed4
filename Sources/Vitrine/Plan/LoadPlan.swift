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
    let isOrphan: (Findings.Finished) -> Bool = { finished in
      findings.original.map { $0.contentID != finished.contentID } ?? false
    }
    orphans = findings.finished.isEmpty ? [] : findings.finished.filter(isOrphan).map(\.key)
    for step in stride(from: last, through: 0, by: -1) {
      if let known = findings.known, known.step == step, let use = Use(of: known.image, request, now: now) {
        (base, self.step) = (.memory(known.image, use), step)
        return
      }
      if step == 0, let larger = findings.larger {
        (base, self.step) = (.larger(larger), 0)
        return
      }
      if let finished = findings.finished.first(where: { $0.step == step }), !isOrphan(finished),
        let validity = finished.validity, validity.answers(fields())
      {
        (base, self.step) = (.finished(finished, Use(ofFinished: validity, request, now: now)), step)
        return
      }
    }
    (base, step) = (.bytes, 0)
  }

  /// The steps at which looking on disk may find something better than the base.
  static func stepsToLookFor(
    _ request: ImageRequest,
    upTo last: Int,
    _ findings: Findings,
    _ storage: StoragePolicy,
  ) -> [Int] {
    let least = findings.known.map { $0.step + 1 } ?? (findings.larger == nil ? 0 : 1)
    guard least <= last else { return [] }
    return (least...last).reversed().filter { storage.looksForFinished(request, step: $0) }
  }
}

extension LoadPlan.Use {
  /// `nil` where the image is of no use.
  fileprivate init?(of image: LoadedImage, _ request: ImageRequest, now: Date) {
    if request.policy != .reload, image.validity.isFresh(at: now, request.policy) {
      // Who says that its age does not matter is not told that it is over.
      self = .serve(isStale: false)
    } else if image.validity.isUsableWhileRevalidating(at: now, request) {
      self = .serveAndRevalidate
    } else if image.contentID != .none {
      self = .confirm
    } else {
      return nil
    }
  }

  fileprivate init(ofFinished validity: Validity, _ request: ImageRequest, now: Date) {
    if validity.isFresh(at: now, request.policy) {
      self = .serve(isStale: validity.isOverdue(at: now, request.policy))
    } else if validity.isUsableWhileRevalidating(at: now, request) {
      self = .serveAndRevalidate
    } else {
      self = .confirm
    }
  }
}
