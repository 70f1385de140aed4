public import CGTK
import CVitrineGTK
public import Vitrine
import VitrineRuntime

/// A widget that loads and shows images.
///
/// ```swift
/// let picture = RemotePicture("https://example.org/cat.jpg", width: 300, height: 200)
/// gtk_box_append(box, picture.widget)
/// ```
/// An image in memory appears with the next frame, without a placeholder or an animation. Any other image fades in.
/// Animated images play while they can be seen, at their own speed, unless the desktop asks for less motion. Only visible
/// images are loaded, at exactly the display's pixels, again if the widget grows or moves to a sharper display; loads
/// that are no longer needed are cancelled. After another request on the same widget, the first request's image never
/// appears. A widget that failed shows the image once another one has loaded it.
///
/// This object is a handle: the widget works without it, for as long as it lives. In style sheets the widget is
/// `vitrine-picture`, its image `vitrine-image`, its progress `vitrine-progress` and its button `.vitrine-retry`;
/// `border-radius` rounds the widget's corners, ``shape`` the picture's. The rule `vitrine-image { animation: none; }` turns
/// fading off. Call everything on the main thread.
@MainActor
@safe
public final class RemotePicture {
  /// The widget, which this object retains.
  ///
  /// - Important: It is valid as long as this object or a parent of the widget retains it.
  public let widget: UnsafeMutablePointer<GtkWidget>
  let view: PictureView

  /// Makes a widget without a parent.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline that loads. Defaults to the program's shared pipeline.
  ///   - width: The minimum width in points. Defaults to 0, which leaves the size to the layout.
  ///   - height: The minimum height in points. Defaults to 0.
  ///   - mode: The way an image is fitted into the widget if its request has no size. Defaults to `.fill`.
  public convenience init(
    _ pipeline: ImagePipeline = .shared,
    width: Int = 0,
    height: Int = 0,
    mode: TargetSize.Mode = .fill,
  ) {
    self.init(slot: ImageSlot(pipeline: pipeline, mailbox: .gtk), width: width, height: height, mode: mode)
  }

  /// Makes a widget that shows the image of a URL, loaded by the program's shared pipeline.
  ///
  /// Text that is no URL shows the theme's icon for missing images, as a failed load does. See
  /// ``init(_:width:height:mode:)-(ImagePipeline,_,_,_)`` for the sizes.
  public convenience init(_ url: String, width: Int = 0, height: Int = 0, mode: TargetSize.Mode = .fill) {
    self.init(.shared, width: width, height: height, mode: mode)
    load(url, failure: .symbol("image-missing"))
  }

  /// Makes a widget that loads in a scope.
  ///
  /// See ``init(_:width:height:mode:)-(ImagePipeline,_,_,_)``.
  public convenience init(
    in scope: LoadScope,
    width: Int = 0,
    height: Int = 0,
    mode: TargetSize.Mode = .fill,
  ) {
    self.init(slot: ImageSlot(scope: scope, mailbox: .gtk), width: width, height: height, mode: mode)
  }

  init(slot: ImageSlot, width: Int, height: Int, mode: TargetSize.Mode) {
    // A stored property may be the first widget of a program.
    precondition(Application.findsDisplay, "there is no display, so no picture can be made")
    view = PictureView(slot, minimumSize: (width, height), mode: mode)
    // Retained from here to `deinit`; before, it had only the floating reference.
    unsafe widget = view.widget
    unsafe g_object_ref_sink(UnsafeMutableRawPointer(widget))
  }

  /// Makes the handle of a widget; returns `nil` if the widget is not a remote picture.
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

  /// Shows an image: at once if it is in memory, otherwise when it has been loaded.
  ///
  /// The same request again changes nothing; `nil` clears the widget. A request without a size is loaded at the
  /// widget's size, in device pixels, once that is known.
  ///
  /// - Parameters:
  ///   - request: The request; `nil` for no image.
  ///   - placeholder: The content until then. Defaults to none.
  ///   - failure: The content if loading fails. Defaults to `nil`: the placeholder.
  public func load(
    _ request: ImageRequest?,
    placeholder: Placeholder = .none,
    failure: Placeholder? = nil,
  ) {
    MainThreadWork.measure { view.slot.load(request, placeholder: placeholder, failure: failure) }
  }

  /// Shows the image of a URL; text that is none fails within this call.
  ///
  /// See ``load(_:placeholder:failure:)-(ImageRequest?,_,_)``.
  @_disfavoredOverload
  public func load(_ url: (some URLConvertible)?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    load(url.map { ImageRequest($0.imageSource) }, placeholder: placeholder, failure: failure)
  }

  /// Shows nothing, and cancels the current load.
  public func clear() { load(nil) }

  /// The slot that decides what the widget shows, for rarely needed settings: progress, and the handling of
  /// loads that are no longer needed.
  ///
  /// The widget sets its display, its size and its visibility.
  public var slot: ImageSlot { view.slot }

  /// The current content of the widget.
  public var content: ImageSlot.Content { view.content }

  /// A closure that is called after each change of the content.
  ///
  /// Defaults to an empty one. The widget keeps it, so it must not retain the widget or a cell with it.
  public var onChange: @MainActor (ImageSlot.Content) -> Void {
    get { view.onChange }
    set { view.onChange = newValue }
  }

  /// A Boolean value that indicates whether an image from a file may come from the desktop's thumbnail of that file;
  /// defaults to `true`.
  ///
  /// The desktop's programs share such thumbnails, usually in `~/.cache/thumbnails`. One is used if it was made of the file
  /// as it is now and has enough pixels; a missing or damaged one is passed over. It is not used for an animation, a
  /// frame but the first, `quality = .best`, a filter, colours or a range of brightness other than the defaults, and an
  /// image that is not resized. `ImageResponse.info` is then the thumbnail's. No thumbnail is ever written. A change
  /// applies from the next load on.
  public var usesDesktopThumbnails: Bool {
    get { view.thumbnails != nil }
    set { view.thumbnails = newValue ? .user : nil }
  }

  // MARK: Appearance

  /// The way an image is fitted into the widget if its request has no size: `.fit`, `.fill` or `.exact`.
  ///
  /// A change redraws what is shown, and applies to the pixels of later loads.
  public var mode: TargetSize.Mode {
    get { view.mode }
    set { view.mode = newValue }
  }

  /// The place of an image that is smaller than the widget, and of the visible part of a larger image.
  ///
  /// Defaults to the centre. With `.fill` and no size in the request, the decoder cuts the image to the widget, around
  /// its centre; only images that are cut by the widget itself follow the alignment.
  public var alignment: Anchor {
    get { view.alignment }
    set { view.alignment = newValue }
  }

  /// The outline of the picture; defaults to a rectangle.
  ///
  /// It is applied when the picture is drawn, so pictures of any shape share the same image in memory.
  public var shape: PictureShape {
    get { view.shape }
    set { view.shape = newValue }
  }

  /// The colour of a line of a point along the edge of the image, for images that look like what is around them; defaults to
  /// `nil`, no line.
  public var outline: PixelColor? {
    get { view.outline }
    set { view.outline = newValue }
  }

  /// The brightest that the display can show, as a multiple of the white of a page; defaults to 1.
  ///
  /// GTK cannot be asked for it, and cuts off what its surface does not show, so a program sets it that knows its display.
  /// Above 1, from GTK 4.16 on, images are loaded with their gain maps and drawn brighter than white where they are, up to
  /// this brightness; the desktop's thumbnails are not used. At 1, and with an older GTK, images are shown up to white, and
  /// their maps are not read. An animation has no map. A change applies from the next load on.
  public var headroom: Double {
    get { view.headroom }
    set { view.headroom = newValue }
  }

  /// A Boolean value that indicates whether a ring shows the progress of loads that take longer than a quarter of a
  /// second; defaults to `false`.
  public var showsProgress: Bool {
    get { view.showsProgress }
    set { view.showsProgress = newValue }
  }

  // MARK: Failures

  /// A Boolean value that indicates whether a failed picture has a button to try again; defaults to `false`.
  public var showsRetry: Bool {
    get { view.showsRetry }
    set { view.showsRetry = newValue }
  }

  /// Loads the image again after it has failed, as the button does; see `ImageSlot.retry()`.
  public func retry() { MainThreadWork.measure { view.slot.retry() } }

  // MARK: Animations

  /// A Boolean value that indicates whether animated images are loaded with all their frames; defaults to `true`.
  ///
  /// If it is `false`, their first frame is shown. A change applies from the next load on.
  public var animates: Bool {
    get { view.slot.animates }
    set { view.slot.animates = newValue }
  }

  /// A Boolean value that indicates whether an animation plays while it can be seen; defaults to `true`.
  public var plays: Bool {
    get { view.plays }
    set { view.plays = newValue }
  }

  /// The player of the animation that is shown, to seek or to change its rate; `nil` for a still image.
  ///
  /// The widget tells it the time, and plays and pauses it.
  public var player: AnimationPlayer? { view.player }

  // MARK: Accessibility

  /// The text that screen readers speak for the image; defaults to an empty one.
  public var alternativeText = "" {
    didSet { unsafe vitrine_gtk_set_label(widget, alternativeText) }
  }

  /// A longer description for screen readers; defaults to an empty one.
  public var alternativeDescription = "" {
    didSet { unsafe vitrine_gtk_set_description(widget, alternativeDescription) }
  }
}

extension RemotePicture {
  /// Puts the picture into a container, after what is there.
  ///
  /// ```swift
  /// RemotePicture(width: 300, height: 200).append(to: box).load(url)
  /// ```
  /// The container owns the widget from then on, so this object need not be kept. See ``append(_:to:)`` for the
  /// containers that there are.
  @discardableResult
  public func append(to parent: (some ObjectPointer)?) -> Self {
    unsafe VitrineGTK.append(widget, to: parent)
    return self
  }

  /// Puts the picture into a container, after what is there.
  @discardableResult
  public func append(to parent: Widget) -> Self { unsafe append(to: parent.pointer) }
}

extension Widget {
  /// The widget of a picture.
  public convenience init(_ picture: RemotePicture) { unsafe self.init(picture.widget) }
}
