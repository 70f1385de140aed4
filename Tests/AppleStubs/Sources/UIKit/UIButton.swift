import CoreGraphics
import Foundation

/// A control that does something when it is touched.
@MainActor
open class UIButton: UIControl {
  private var images: [UInt: UIImage] = [:]
  private var backgrounds: [UInt: UIImage] = [:]
  private lazy var picture = UIImageView(frame: .zero)

  /// The view of the image.
  open var imageView: UIImageView? { picture }

  /// Sets the image of a state.
  open func setImage(_ image: UIImage?, for state: UIControl.State) {
    images[state.rawValue] = image
    if state == .normal { picture.image = image }
  }

  /// The image of a state; that of the normal one if it has none.
  open func image(for state: UIControl.State) -> UIImage? { images[state.rawValue] ?? images[0] }

  /// Sets the background of a state.
  open func setBackgroundImage(_ image: UIImage?, for state: UIControl.State) { backgrounds[state.rawValue] = image }

  /// The background of a state; that of the normal one if it has none.
  open func backgroundImage(for state: UIControl.State) -> UIImage? { backgrounds[state.rawValue] ?? backgrounds[0] }
}
