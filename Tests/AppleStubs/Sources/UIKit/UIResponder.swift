import Foundation

/// Something that answers to events.
@MainActor
open class UIResponder: NSObject {
  /// Makes a responder.
  public override init() {
    super.init()
  }

  /// The one to ask next.
  open var next: UIResponder? { nil }
}
