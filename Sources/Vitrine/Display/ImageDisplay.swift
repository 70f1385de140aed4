public import VitrineImaging

/// A view that shows the content of an ``ImageSlot``.
///
/// The slot refers to it weakly: the view owns the slot, and both are freed together, even during a load.
@MainActor
public protocol ImageDisplay: AnyObject {
  /// Shows the content and nothing else, until the next call.
  ///
  /// Called on the main actor, within ``ImageSlot/load(_:placeholder:failure:)-(ImageRequest?,_,_)`` or
  /// ``FrameMailbox/deliver()``. It may call the slot. It must be quick: its time counts against the mailbox's budget.
  func show(_ content: ImageSlot.Content)
}

extension ImageSlot {
  /// The content of a view.
  public enum Content: Sendable {
    /// Nothing.
    case empty
    /// The placeholder of a loading image: a colour, a bitmap, a resource or an icon.
    ///
    /// A bitmap stands for the image, so show it as large as the image will be. Hashes are bitmaps here.
    case placeholder(Placeholder)
    /// An early version of the image, or a variant of it, also from another URL, to be shown without a fade.
    case preview(ImageContainer)
    /// The image.
    ///
    /// `fades` is `true` if the image may fade in over what was shown before: it was not in memory, did not arrive
    /// within the call that requested it, and does not replace an earlier or smaller version of itself.
    case image(ImageResponse, fades: Bool)
    /// A failed load, with the content to show for it; ``Placeholder/none`` shows nothing.
    ///
    /// With ``Placeholder/keepCurrent``, the view stays as it is. Any other content is a colour, a bitmap, a resource
    /// or an icon.
    case failure(LoadError, shows: Placeholder)
  }

  /// The size at which a slot decodes an image whose request has no size.
  public enum Sizing: Sendable, Hashable {
    /// The image's own size.
    case asRequested
    /// The view's size in device pixels, fitted like this; the load waits until that size is known.
    case view(TargetSize.Mode)
  }

  /// The handling of a load whose image the view no longer needs, or does not need now.
  public enum Leaving: Sendable, Hashable {
    /// Cancels the load.
    case cancel
    /// Continues at low priority, to fill the caches.
    case lower
    /// Continues unchanged, to fill the caches.
    case keepGoing
  }

  /// Counts of the loads and images of one mailbox's slots.
  package struct Statistics: Sendable, Hashable {
    /// Requests given to slots.
    package internal(set) var binds = 0
    /// Loads started.
    package internal(set) var loadsStarted = 0
    /// Loads cancelled.
    package internal(set) var loadsCancelled = 0
    /// Loads that slots left to continue, to fill the caches.
    package internal(set) var loadsLeft = 0
    /// Loads that failed.
    package internal(set) var failures = 0
    /// Previews shown.
    package internal(set) var previews = 0
    /// Cached variants, and images of placeholders' requests, shown until the image arrived.
    package internal(set) var variants = 0
    /// Images shown from memory.
    package internal(set) var shownFromMemory = 0
    /// Images shown from the disk cache, including revalidated ones.
    package internal(set) var shownFromDisk = 0
    /// Images shown from a server.
    package internal(set) var shownFromNetwork = 0
    /// Images shown from files, data and closures.
    package internal(set) var shownFromLocal = 0
    /// Images that arrived while the same image was already shown.
    package internal(set) var unchanged = 0
    /// Results discarded because the slot no longer wanted them.
    package internal(set) var late = 0

    /// Creates statistics in which every count is zero.
    package init() {}

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
