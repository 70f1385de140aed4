public import VitrineImaging

/// A view, as an ``ImageSlot`` sees it: something that shows what it is told.
///
/// The slot refers to it weakly, so the view owns the slot and both are freed together, also while an image is on its way.
@MainActor
public protocol ImageDisplay: AnyObject {
  /// Shows this and nothing else, until the next call.
  ///
  /// Called on the main actor, within ``ImageSlot/load(_:placeholder:failure:)-(ImageRequest?,_,_)`` or
  /// ``FrameMailbox/deliver()``. It may call the slot. It must be quick: what it does counts against the mailbox's budget.
  func show(_ content: ImageSlot.Content)
}

extension ImageSlot {
  /// What a view is told to show.
  public enum Content: Sendable {
    /// Nothing.
    case empty
    /// What stands in for an image that is awaited; never ``Placeholder/keepCurrent``, ``Placeholder/none``
    /// or ``Placeholder/cachedVariant(else:)``.
    case placeholder(Placeholder)
    /// The image as far as it is known, or in another size; it is not faded in.
    case preview(ImageContainer)
    /// The image.
    ///
    /// `fades` says whether it may be faded in over what was shown before: it was not in memory, and it does not take the
    /// place of an earlier or smaller version of itself.
    case image(ImageResponse, fades: Bool)
    /// The image failed; the placeholder is what to show for it, and ``Placeholder/none`` to show nothing.
    ///
    /// With ``Placeholder/keepCurrent`` what is shown stays.
    case failure(LoadError, Placeholder)
  }

  /// How large an image is decoded whose request names no size.
  public enum Sizing: Sendable, Hashable {
    /// At its own size.
    case asRequested
    /// At the size of the view in device pixels, fitted like this; while that is not known, the load waits for it.
    case view(TargetSize.Mode)
  }

  /// What becomes of a load whose image the view does not need any more, or not now.
  public enum Leaving: Sendable, Hashable {
    /// It is cancelled.
    case cancel
    /// It goes on with low priority, so as to fill the caches.
    case lower
    /// It goes on as it was, so as to fill the caches.
    case keepGoing
  }

  /// What the slots of one mailbox have done so far.
  public struct Statistics: Sendable, Hashable {
    /// Requests that slots were given.
    public internal(set) var binds = 0
    /// Loads begun.
    public internal(set) var loadsStarted = 0
    /// Loads cancelled.
    public internal(set) var loadsCancelled = 0
    /// Loads that were left and go on for the sake of the caches.
    public internal(set) var loadsLeft = 0
    /// Loads that failed.
    public internal(set) var failures = 0
    /// Previews shown.
    public internal(set) var previews = 0
    /// Images of another size or kind shown in an image's place until that came.
    public internal(set) var variants = 0
    /// Images from memory shown.
    public internal(set) var shownFromMemory = 0
    /// Images from the disk cache shown, those that the server confirmed among them.
    public internal(set) var shownFromDisk = 0
    /// Images from a server shown.
    public internal(set) var shownFromNetwork = 0
    /// Images of files, bytes at hand and closures shown.
    public internal(set) var shownFromLocal = 0
    /// Images that came while the same was shown already, so that nothing had to be.
    public internal(set) var unchanged = 0
    /// Answers that came for something the slot no longer wanted, and were dropped.
    public internal(set) var late = 0

    /// Nothing done yet.
    public init() {}

    mutating func countShown(_ origin: ImageResponse.Origin) {
      switch origin {
      case .memory: shownFromMemory += 1
      case .disk, .revalidated: shownFromDisk += 1
      case .network: shownFromNetwork += 1
      case .local: shownFromLocal += 1
      }
    }
  }
}
