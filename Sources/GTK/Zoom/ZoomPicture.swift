public import CGTK
import CVitrineGTK
public import Vitrine
import VitrineRuntime

/// A widget that shows a photograph of any size, to be enlarged, moved and turned.
///
/// ```swift
/// let photograph = ZoomPicture()
/// gtk_window_set_child(window, photograph.widget)
/// photograph.load(url, placeholder: .cached)
/// ```
/// The whole picture appears first, at the size of the widget. What is visible of it then becomes sharp a tile at a time,
/// from the middle outwards; the picture is never in memory as a whole (`TiledImage`). Textures take no more than
/// ``memoryLimit``. Up to twice its size the picture is smoothed, above that its pixels are drawn as squares.
/// Animations play meanwhile, unless the desktop wants less motion.
///
/// | input | effect |
/// |---|---|
/// | wheel; Control and touchpad; two fingers | zooms around the place under the pointer |
/// | double click | the whole picture, or its actual size at the pointer |
/// | dragging; touchpad; arrows, Page Up and Down, Home, End | moves the picture where it is larger than the widget |
/// | `+`, `-`, `0`, `1` | zooms in, zooms out, the whole picture, its actual size |
/// | `r`, `R` | turns the picture clockwise, and back |
///
/// Keys that would change nothing are left to the program. This object is a handle: the widget works without it, for as
/// long as it lives. In style sheets the widget is `vitrine-zoom`, and its button `.vitrine-retry`. Call everything on the
/// main thread.
@MainActor
@safe
public final class ZoomPicture {
  /// The state of a widget.
  public enum Content: Sendable {
    /// Nothing.
    case empty
    /// The placeholder, while the picture is being loaded.
    case loading
    /// The picture, parts of which are not as sharp as they will be.
    case partial
    /// The picture, as sharp as it can be at this zoom.
    case complete
    /// The failure content, or the picture as far as it is known.
    case failure(LoadError)
  }

  /// The widget, which this object retains.
  ///
  /// - Important: It is valid as long as this object or a parent of the widget retains it.
  public let widget: UnsafeMutablePointer<GtkWidget>
  let view: ZoomView

  /// Makes a widget without a parent.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline that loads. Defaults to the program's shared pipeline. Tiles of formats that cannot be
  ///     entered in the middle are stored in its disk cache.
  ///   - width: The minimum width in points. Defaults to 0, which leaves the size to the layout.
  ///   - height: The minimum height in points. Defaults to 0.
  public convenience init(_ pipeline: ImagePipeline = .shared, width: Int = 0, height: Int = 0) {
    self.init(opener: pipeline, width: width, height: height)
  }

  init(opener: any PictureOpening, width: Int = 0, height: Int = 0) {
    // A stored property may be the first widget of a program.
    precondition(Application.findsDisplay, "there is no display, so no picture can be made")
    view = ZoomView(opener, minimumSize: (width, height))
    // Retained from here to `deinit`; before, it had only the floating reference.
    unsafe widget = view.widget
    unsafe g_object_ref_sink(UnsafeMutableRawPointer(widget))
  }

  /// Makes the handle of a widget; returns `nil` if the widget is not a zoom picture.
  public init?(_ widget: UnsafeMutablePointer<GtkWidget>?) {
    guard let view = unsafe DrawnWidget.object(of: widget) as? ZoomView else { return nil }
    self.view = view
    unsafe self.widget = view.widget
    unsafe g_object_ref(UnsafeMutableRawPointer(view.widget))
  }

  isolated deinit {
    // The reference that both initialisers took.
    unsafe g_object_unref(UnsafeMutableRawPointer(widget))
  }

  // MARK: Loading

  /// Shows a picture, as a whole and upright; loading begins when the widget can be seen.
  ///
  /// The same request again changes nothing, unless it has failed; `nil` clears the widget. The request's size and
  /// processors are not used. Its frame is the page of a file such as a TIFF: pages behind the first are in memory as a whole
  /// while they are shown.
  ///
  /// - Parameters:
  ///   - request: The request; `nil` for no picture.
  ///   - placeholder: The content until then. Defaults to none. With `.keepCurrent` the former picture stays until the new
  ///     one has pixels; if both have the same size, zoom and place stay, too.
  ///   - failure: The content if loading fails. Defaults to `nil`: the placeholder, unless that is a picture.
  public func load(_ request: ImageRequest?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    MainThreadWork.measure { view.load(request, placeholder: placeholder, failure: failure) }
  }

  /// Shows the picture of a URL; text that is none fails.
  ///
  /// See ``load(_:placeholder:failure:)-(ImageRequest?,_,_)``.
  @_disfavoredOverload
  public func load(_ url: (some URLConvertible)?, placeholder: Placeholder = .none, failure: Placeholder? = nil) {
    load(url.map { ImageRequest($0.imageSource) }, placeholder: placeholder, failure: failure)
  }

  /// Shows nothing, and cancels all loads.
  public func clear() { load(nil) }

  /// The current content of the widget.
  public var content: Content { view.content }

  /// The facts of the picture's header; `nil` until they are known.
  public var info: ImageInfo? { view.tiles?.provider.info }

  /// The origin of the picture's file; `nil` until it is known.
  public var origin: ImageResponse.Origin? { view.tiles?.provider.origin }

  /// The reason why a part of the picture is missing, if the request's `acceptsPartial` allowed that; `nil` for a whole
  /// picture, and until the file has been read.
  public var damage: ImageError? { view.tiles?.provider.damage }

  /// The bytes of all pixels that the widget holds.
  package var pixelByteCount: Int { view.tiles?.byteCount ?? 0 }

  /// True if a tile that should be seen is not there yet.
  package var isWaitingForTiles: Bool { view.tiles?.isIncomplete ?? false }

  /// A Boolean value that indicates whether the picture's file was out of date, and nothing newer was to be had.
  public var isStale: Bool { view.tiles?.provider.isStale ?? false }

  /// A closure that is called after each change of the zoom, the place, the turn or the content.
  ///
  /// Defaults to `nil`.
  public var changed: (() -> Void)? {
    get { view.changed }
    set { view.changed = newValue }
  }

  /// The maximum number of bytes of pixels that the widget keeps; defaults to 150,000,000.
  ///
  /// Pixels that are outside the widget leave first. If those in it take more, they are shown less sharply.
  public var memoryLimit: Int {
    get { view.memoryLimit }
    set { view.memoryLimit = max(0, newValue) }
  }

  // MARK: Appearance

  /// A Boolean value that indicates whether the transparent parts of a picture are over a chequerboard; defaults to
  /// `false`: they show what is behind the widget.
  public var hasChequerboard: Bool {
    get { view.backing.hasChequers }
    set { view.backing.hasChequers = newValue }
  }

  /// The colour of a line of a point around the picture, for pictures that look like what is around them;
  /// defaults to `nil`, no line.
  public var outline: PixelColor? {
    get { view.backing.outline }
    set { view.backing.outline = newValue }
  }

  // MARK: Animations

  /// A Boolean value that indicates whether pictures that move do so, and are not their first frame; defaults to `true`.
  ///
  /// A change applies from the next load on.
  public var animates: Bool {
    get { view.animates }
    set { view.animates = newValue }
  }

  /// A Boolean value that indicates whether an animation plays while it can be seen; defaults to `true`.
  public var plays: Bool {
    get { view.plays }
    set { view.plays = newValue }
  }

  /// The player of the animation, by which its frames can be stepped through; `nil` for a still picture, and until its
  /// frames are there.
  ///
  /// Another zoom may bring another player, at the same frame.
  public var player: AnimationPlayer? { view.playback?.player }

  // MARK: Progress and failures

  /// A Boolean value that indicates whether a ring is shown over a picture that loads for longer than a quarter of a
  /// second; defaults to `false`.
  ///
  /// It fills where the length of the download is known, and otherwise turns.
  public var showsProgress: Bool {
    get { view.showsProgress }
    set { view.showsProgress = newValue }
  }

  /// A Boolean value that indicates whether a failed picture has a button to try again; defaults to `false`.
  public var showsRetry: Bool {
    get { view.showsRetry }
    set { view.showsRetry = newValue }
  }

  /// Loads again what has failed, as the button does; does nothing if nothing has.
  ///
  /// The server is asked, whatever the pipeline remembers of the failure.
  public func retry() { MainThreadWork.measure { view.retry() } }

  // MARK: Zoom

  /// The number of device pixels of a pixel of the picture: 1 is its actual size.
  ///
  /// It is never less than the whole picture needs, and at most 32; a drawing may be larger. While there is no picture,
  /// it is 1, and setting it does nothing.
  public var zoom: Double {
    get { view.geometry?.zoom ?? 1 }
    set { zoom(to: newValue) }
  }

  /// A Boolean value that indicates whether the whole picture is shown, also if the widget changes its size.
  public var isFitting: Bool { view.geometry?.isFitting ?? true }

  /// The quarter turns of the picture, clockwise, from 0 to 3.
  public var turns: Int { view.geometry?.turns ?? 0 }

  /// A Boolean value that indicates whether the picture is mirrored left to right, before its ``turns``.
  public var isMirrored: Bool { view.geometry?.isMirrored ?? false }

  /// The place of the picture in the middle of the widget, in pixels of the upright picture; `nil` if there is none.
  public var center: (x: Double, y: Double)? { view.geometry.map { ($0.center.x, $0.center.y) } }

  /// Changes the zoom; what is shown at a point stays there.
  ///
  /// - Parameters:
  ///   - zoom: The number of device pixels of a pixel of the picture; see ``zoom``.
  ///   - point: The point, in points of the widget. Defaults to `nil`: its middle.
  public func zoom(to zoom: Double, at point: (x: Double, y: Double)? = nil) {
    MainThreadWork.measure { view.pinched(to: zoom, at: point) }
  }

  /// Shows the whole picture, not enlarged unless it is a drawing.
  public func zoomToFit() { MainThreadWork.measure { view.move { $0.fit() } } }

  /// Shows a pixel of the picture on each pixel of the display.
  public func zoomToActualSize() { zoom(to: 1) }

  /// Enlarges the picture by a quarter.
  public func zoomIn() { zoom(to: zoom * ZoomView.step) }

  /// Reverses ``zoomIn()``.
  public func zoomOut() { zoom(to: zoom / ZoomView.step) }

  /// Moves the picture, where it is larger than the widget, by a distance in points.
  public func pan(x: Double, y: Double) { MainThreadWork.measure { view.dragged(x, y) } }

  /// Turns the picture by quarters, clockwise; negative ones turn it back.
  public func rotate(quarters: Int) { MainThreadWork.measure { view.move { $0.rotate(quarters: quarters) } } }

  /// Mirrors the picture as it is shown: left and right change places, or top and bottom.
  public func flip(_ axis: ImageProcessor.FlipAxis) { MainThreadWork.measure { view.move { $0.flip(axis) } } }

  // MARK: Selecting

  /// The part of the picture that the user chooses, in pixels of the upright picture; `nil`, the default, for none.
  ///
  /// A part that is set gets a frame with handles. Dragging one changes the part, dragging its inside moves it, dragging
  /// elsewhere begins another one. Arrows move it by eight points, with Control by a pixel, and with Shift they move its right
  /// and lower edges. ``changed`` is called after each change. A part outside the picture is `nil`, and so it becomes if another
  /// picture is shown.
  public var selection: PixelRegion? {
    get { view.selectedPart }
    set { MainThreadWork.measure { view.select(newValue) } }
  }

  /// The width of the selected part over its height, as they are shown; `nil`, the default, for any.
  public var selectionRatio: Double? {
    get { view.selectionRatio }
    set { MainThreadWork.measure { view.selectionRatio = newValue.flatMap { $0.isFinite && $0 > 0 ? $0 : nil } } }
  }

  /// A closure that returns the part to select in place of the user's choice, such as the nearest part of whole blocks.
  ///
  /// Defaults to `nil`: each part can.
  public var selectablePart: ((PixelRegion) -> PixelRegion)? {
    get { view.selectablePart }
    set { view.selectablePart = newValue }
  }

  /// A Boolean value that indicates whether only the selected part is shown, without its frame; defaults to `false`.
  public var previewsSelection: Bool {
    get { view.previewsSelection }
    set { view.previewsSelection = newValue }
  }

  // MARK: Accessibility

  /// The text that screen readers speak for the picture; defaults to an empty one.
  public var alternativeText = "" {
    didSet { unsafe vitrine_gtk_set_label(widget, alternativeText) }
  }

  /// A longer description for screen readers, before the zoom's; defaults to an empty one.
  public var alternativeDescription: String {
    get { view.alternativeDescription }
    set { view.alternativeDescription = newValue }
  }

  /// The description of a zoom for screen readers; defaults to text such as `Zoom 50 %`.
  ///
  /// A closure that returns an empty text describes none.
  public var zoomDescription: @MainActor (Double) -> String {
    get { view.zoomDescription }
    set { view.zoomDescription = newValue }
  }
}

extension ZoomPicture.Content {
  func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.empty, .empty), (.loading, .loading), (.partial, .partial), (.complete, .complete): true
    case (.empty, _), (.loading, _), (.partial, _), (.complete, _), (.failure, _): false
    }
  }
}

extension Widget {
  /// The widget of a photograph.
  public convenience init(_ picture: ZoomPicture) { unsafe self.init(picture.widget) }
}
