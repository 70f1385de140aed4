import Foundation

/// Something that answers to events.
@MainActor
open class NSResponder: NSObject {
  /// The one to ask next.
  open weak var nextResponder: NSResponder?

  /// Makes a responder.
  public override init() {
    super.init()
  }

  /// Makes an empty responder: these stubs read no archives.
  public required init?(coder: NSCoder) {
    super.init()
  }
}
