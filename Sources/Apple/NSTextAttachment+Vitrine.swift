#if !os(macOS) && !os(watchOS)
public import UIKit
import Vitrine
import VitrineRuntime

extension NSTextAttachment {
  /// Returns the loader of the attachment's image, which lives as long as the attachment.
  ///
  /// ```swift
  /// let attachment = NSTextAttachment()
  /// attachment.bounds = CGRect(x: 0, y: -4, width: 20, height: 20)
  /// attachment.vitrine(in: textView).load(emoji)
  /// ```
  /// A request without a size is decoded at the attachment's bounds or, if these are empty, no wider and higher than the
  /// view; then the text is laid out again around the image.
  ///
  /// - Parameter view: The view that shows the text, which is not retained; it is drawn again with each change.
  /// - Returns: The loader.
  @MainActor
  public func vitrine(in view: UIView) -> ImageViewLoader {
    let (loader, host) = ImageViewLoader.of(AttachmentPart.image, of: self) { AttachmentPicture(of: self) }
    host.view = view
    return loader
  }
}

private enum AttachmentPart { case image }

/// The image of an attachment of a text.
private final class AttachmentPicture: PictureHost {
  weak var view: UIView?
  private weak var attachment: NSTextAttachment?

  init(of attachment: NSTextAttachment) { self.attachment = attachment }

  var fittingMode: TargetSize.Mode { .fit }

  var pixelSize: HostSize? {
    guard let attachment, let view else { return nil }
    let scale = max(view.traitCollection.displayScale, 1)
    return HostSize(attachment.bounds.size, scale: scale) ?? HostSize(view.bounds.size, scale: scale, isBound: true)
  }

  func show(_ image: ImageContainer, isTemplate: Bool, duration: TimeInterval) {
    let picture = UIImage.picture(image, isTemplate: isTemplate)
    guard let view else { return set(picture) }
    view.fade(duration) { [self] in set(picture) }
  }

  func show(frame: Bitmap) { set(UIImage(frame)) }

  func show(standIn: Placeholder) { set(UIImage.standIn(standIn)) }

  /// Does nothing: texts have no range.
  func allow(_ range: DisplayRange) {}

  func watchLayout(_ loader: ImageViewLoader) { view?.addProbe(loader) }

  func makeFrameLink(_ tick: @escaping @MainActor (Duration) -> Void) -> any FrameLink {
    UpdateLink(view ?? UIView(), tick)
  }

  private func set(_ picture: UIImage?) {
    guard let attachment else { return }
    attachment.image = picture
    if let text = view as? UITextView { text.textStorage.layOutAgain(attachment) }
    view?.invalidateIntrinsicContentSize()
    view?.setNeedsDisplay()
  }
}

extension NSTextStorage {
  /// Marks the characters that show an attachment as edited, so that they are laid out and drawn again.
  fileprivate func layOutAgain(_ attachment: NSTextAttachment) {
    // The pointer by which an enumeration can be stopped is not used.
    unsafe enumerateAttribute(.attachment, in: NSRange(location: 0, length: length)) { value, range, _ in
      if value as? NSTextAttachment === attachment { edited(.editedAttributes, range: range, changeInLength: 0) }
    }
  }
}
#endif
