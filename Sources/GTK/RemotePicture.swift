public import CGTK
import CVitrineGTK
public import Vitrine

/// A widget that shows images as they are loaded.
///
/// ```swift
/// let picture = RemotePicture(width: 300, height: 200)
/// gtk_box_append(box, picture.widget)
/// picture.load(ImageRequest(url: url), placeholder: .color(.init(0x303030)), failure: .symbol("image-missing"))
/// ```
/// What is in memory is there with the next frame, without a placeholder and without an animation; anything else fades
/// in. Only images that can be seen are loaded, at exactly the display's pixels, and one that is no longer wanted is
/// cancelled. Another request on the same widget never shows the first one's image.
///
/// This object is a handle: the widget does all that without it, for as long as it lives. To style sheets it is
/// `vitrine-picture`, and its image `vitrine-image`; corners are rounded by `border-radius`, and a rule
/// `vitrine-image { animation: none; }` puts an end to fading. Every call is for the main thread.
@MainActor
@safe
public final class RemotePicture {
  /// The widget; kept alive by this object too.
  ///
  /// - Important: It is valid for as long as this object or a parent of the widget keeps it.
  public let widget: UnsafeMutablePointer<GtkWidget>
  let view: PictureView

  /// Makes a widget without a parent.
  ///
  /// - Parameters:
  ///   - pipeline: What loads; the program's shared pipeline by default.
  ///   - width: The least width in points; 0 by default, which leaves the size to the layout around it.
  ///   - height: The least height in points; 0 by default.
  ///   - mode: How an image is fitted into the widget, where its request names no size: it covers it, by default.
  public convenience init(
    _ pipeline: ImagePipeline = .shared,
    width: Int = 0,
    height: Int = 0,
    mode: TargetSize.Mode = .fill,
  ) {
    self.init(slot: ImageSlot(pipeline: pipeline, mailbox: .gtk), width: width, height: height, mode: mode)
  }

  /// Makes a widget whose loads are those of a scope.
  ///
  /// See ``init(_:width:height:mode:)``.
  public convenience init(
    in scope: LoadScope,
    width: Int = 0,
    height: Int = 0,
    mode: TargetSize.Mode = .fill,
  ) {
    self.init(slot: ImageSlot(scope: scope, mailbox: .gtk), width: width, height: height, mode: mode)
  }

  init(slot: ImageSlot, width: Int, height: Int, mode: TargetSize.Mode) {
    view = PictureView(slot, minimumSize: (width, height), mode: mode)
    // Held from here to `deinit`; it had only the floating reference before.
    unsafe widget = view.widget
    unsafe g_object_ref_sink(UnsafeMutableRawPointer(widget))
  }

  /// The handle of a widget, if it is one that this class has made.
  public init?(_ widget: UnsafeMutablePointer<GtkWidget>?) {
    guard let view = unsafe DrawnWidget.object(of: widget) as? PictureView else { return nil }
    self.view = view
    unsafe self.widget = view.widget
    unsafe g_object_ref(UnsafeMutableRawPointer(view.widget))
  }

  isolated deinit {
    // The reference that both initialisers took.
    unsafe g_object_unref(UnsafeMutableRawPointer(widget))
  }

  /// Shows an image: at once if it is in memory, else when it has come.
  ///
  /// The same request again changes nothing, `nil` clears. A request without a size is loaded at the widget's, in device
  /// pixels, once that is known.
  ///
  /// - Parameters:
  ///   - request: What to show.
  ///   - placeholder: What to show until then; nothing by default.
  ///   - failure: What to show if it fails; the placeholder by default.
  public func load(
    _ request: ImageRequest?,
    placeholder: Placeholder = .none,
    failure: Placeholder? = nil,
  ) {
    MainThreadWork.measure { view.slot.load(request, placeholder: placeholder, failure: failure) }
  }

  /// Shows the image of a URL; see ``load(_:placeholder:failure:)-(ImageRequest?,_,_)``.
  @_disfavoredOverload
  public func load(_ url: URL?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    load(url.map { ImageRequest(url: $0) }, placeholder: placeholder, failure: failure)
  }

  /// Shows the image of a URL; text that is none fails within this call.
  ///
  /// See ``load(_:placeholder:failure:)-(ImageRequest?,_,_)``.
  @_disfavoredOverload
  public func load(_ url: String?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    load(url.map { ImageRequest(url: $0) }, placeholder: placeholder, failure: failure)
  }

  /// Shows nothing, and cancels what is being loaded.
  public func clear() { load(nil) }

  /// What decides what is shown, for what is seldom needed: progress, and what becomes of a load that nobody waits for.
  ///
  /// Its display, its size and its visibility are the widget's.
  public var slot: ImageSlot { view.slot }

  /// What the widget was last told to show.
  public var content: ImageSlot.Content { view.content }

  /// Called after each change of what is shown; with nothing by default.
  public var onChange: @MainActor (ImageSlot.Content) -> Void {
    get { view.onChange }
    set { view.onChange = newValue }
  }

  /// Sets the text that screen readers say for the image.
  public func setAlternativeText(_ text: String) { unsafe vitrine_gtk_set_label(widget, text) }
}
