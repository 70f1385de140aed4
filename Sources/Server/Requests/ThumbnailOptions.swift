public import VitrineImaging

/// The changes to an original that a URL can ask for.
///
/// Lengths are in pixels of the thumbnail, at a ``pixelRatio`` of 1. The order in which a URL names options does not
/// matter; the work is done in this order: trim, rotate, flip, crop, resize, adjust colours, blur, sharpen, round the
/// corners, extend, pad, watermark, flatten onto the background.
public struct ThumbnailOptions: Sendable, Hashable {
  /// The way in which the image is fitted into ``width`` and ``height``.
  public enum Fit: String, Sendable, Hashable, CaseIterable {
    /// Inside the box, keeping the aspect ratio.
    case fit
    /// Covering the box, keeping the aspect ratio, cropped to it.
    case fill
    /// Like ``fill``; an image that is too small is cropped to the aspect ratio of the box.
    case fillDown = "fill-down"
    /// Stretched to the box.
    case force
    /// ``fill`` if the image and the box are both landscape or both portrait, otherwise ``fit``.
    case auto
  }

  /// An edge, a corner or the centre, by the name that imgproxy gives it.
  public enum Place: String, Sendable, Hashable, CaseIterable {
    /// The centre.
    case center = "ce"
    /// The middle of the top edge.
    case top = "no"
    /// The middle of the bottom edge.
    case bottom = "so"
    /// The middle of the right edge.
    case right = "ea"
    /// The middle of the left edge.
    case left = "we"
    /// The top right corner.
    case topRight = "noea"
    /// The top left corner.
    case topLeft = "nowe"
    /// The bottom right corner.
    case bottomRight = "soea"
    /// The bottom left corner.
    case bottomLeft = "sowe"

    /// The place as a point of the unit square.
    public var anchor: Anchor {
      switch self {
      case .center: .center
      case .top: .top
      case .bottom: .bottom
      case .right: .right
      case .left: .left
      case .topRight: .topRight
      case .topLeft: .topLeft
      case .bottomRight: .bottomRight
      case .bottomLeft: .bottomLeft
      }
    }
  }

  /// The part of an image that stays, or the place of an image on a larger one.
  public enum Gravity: Sendable, Hashable {
    /// A place and a distance from there: towards the inside, or from the centre to the right and down.
    ///
    /// Distances below 1 are fractions of the width and the height.
    case place(Place, x: Double, y: Double)
    /// The point around which the image is cropped, as fractions of its width and height.
    case focus(x: Double, y: Double)
    /// The part that shows the most.
    case smart

    /// The centre.
    public static let center = Gravity.place(.center, x: 0, y: 0)
  }

  /// A part of the original.
  public struct Crop: Sendable, Hashable {
    /// The width in pixels from 1, as a fraction of the width below 1; 0 for all of it.
    public var width: Double
    /// The height, like ``width``.
    public var height: Double
    /// The place of the part; `nil` for that of the options.
    public var gravity: Gravity?

    /// Makes a part.
    public init(width: Double, height: Double, gravity: Gravity? = nil) {
      (self.width, self.height, self.gravity) = (width, height, gravity)
    }
  }

  /// The removal of edges of one colour.
  public struct Trim: Sendable, Hashable {
    /// The largest difference to the colour that is removed, of each component.
    public var threshold: Double
    /// The colour; `nil` for that of the top left pixel.
    public var color: PixelColor?
    /// A Boolean value that indicates whether as much is removed on the left as on the right.
    public var isEqualHorizontally: Bool
    /// A Boolean value that indicates whether as much is removed at the top as at the bottom.
    public var isEqualVertically: Bool

    /// Makes a trim.
    public init(
      threshold: Double,
      color: PixelColor? = nil,
      isEqualHorizontally: Bool = false,
      isEqualVertically: Bool = false,
    ) {
      (self.threshold, self.color) = (threshold, color)
      (self.isEqualHorizontally, self.isEqualVertically) = (isEqualHorizontally, isEqualVertically)
    }
  }

  /// Space around an image.
  public struct Padding: Sendable, Hashable {
    /// The space above.
    public var top: Int
    /// The space to the right.
    public var right: Int
    /// The space below.
    public var bottom: Int
    /// The space to the left.
    public var left: Int

    /// Makes a padding.
    public init(top: Int = 0, right: Int = 0, bottom: Int = 0, left: Int = 0) {
      (self.top, self.right, self.bottom, self.left) = (top, right, bottom, left)
    }
  }

  /// The place of the server's watermark.
  public struct Watermark: Sendable, Hashable {
    /// The opacity, from 0 to 1.
    public var opacity: Double
    /// The place.
    public var place: Place
    /// The distance from there, like that of a ``Gravity``.
    public var x: Double
    /// The distance from there, like that of a ``Gravity``.
    public var y: Double
    /// The width as a fraction of the thumbnail's; 0 for the watermark's own.
    public var scale: Double

    /// Makes a watermark.
    public init(opacity: Double, place: Place = .center, x: Double = 0, y: Double = 0, scale: Double = 0) {
      (self.opacity, self.place, self.x, self.y, self.scale) = (opacity, place, x, y, scale)
    }
  }

  /// The way in which the image is fitted into the box.
  public var fit = Fit.fit
  /// The width of the box; 0 for any.
  public var width = 0
  /// The height of the box; 0 for any.
  public var height = 0
  /// The smallest width of the result; 0 for any.
  public var minimumWidth = 0
  /// The smallest height of the result; 0 for any.
  public var minimumHeight = 0
  /// The factor of the width.
  public var zoomX = 1.0
  /// The factor of the height.
  public var zoomY = 1.0
  /// The number of pixels for each that the URL names; `nil` for 1, or what the client's headers say.
  public var pixelRatio: Double?
  /// A Boolean value that indicates whether an image smaller than the box is enlarged.
  public var enlarges = false
  /// The part that stays when the image is cropped.
  public var gravity = Gravity.center
  /// The place of the image on a canvas of the size of the box, if it is smaller; `nil` for no canvas.
  public var extends: Gravity?
  /// The place of the image on a canvas of the aspect ratio of the box; `nil` for no canvas.
  public var extendsToAspectRatio: Gravity?
  /// The part of the original.
  public var crop: Crop?
  /// The removal of edges of one colour.
  public var trim: Trim?
  /// The space around the result.
  public var padding = Padding()
  /// The rotation clockwise, in degrees: 0, 90, 180 or 270.
  public var rotation = 0
  /// A Boolean value that indicates whether left and right change places.
  public var flipsHorizontally = false
  /// A Boolean value that indicates whether top and bottom change places.
  public var flipsVertically = false
  /// The colour behind transparent pixels; `nil` for none.
  public var background: PixelColor?
  /// The number that is added to each component, from -255 to 255.
  public var brightness = 0
  /// The factor of the contrast.
  public var contrast = 1.0
  /// The factor of the saturation.
  public var saturation = 1.0
  /// The standard deviation of a blur, in pixels of the result; 0 for none.
  public var blur = 0.0
  /// The standard deviation of unsharp masking, in pixels of the result; 0 for none.
  public var sharpening = 0.0
  /// The radii of the corners: top left, top right, bottom right, bottom left.
  public var cornerRadii: [Double] = []
  /// The server's watermark; `nil` for none.
  public var watermark: Watermark?
  /// The quality, from 1 to 100; `nil` for the format's own default.
  public var quality: Int?
  /// The qualities of single formats, by name, where ``quality`` is `nil`.
  public var formatQualities: [String: Int] = [:]
  /// The metadata of the original that is kept.
  public var metadata = Metadata.copyright
  /// A Boolean value that indicates whether colours that sRGB lacks are kept, as Display P3.
  public var keepsWideColors = false
  /// The page, or the frame of an animation, from 0.
  public var page = 0
  /// A Boolean value that indicates whether an animation moves.
  public var animates = true
  /// A Boolean value that indicates whether the response is to be saved as a file.
  public var isAttachment = false
  /// The name of that file, without an extension; `nil` for the source's own.
  public var fileName: String?
  /// A text that makes a difference for caches only.
  public var cacheBuster: String?

  /// Makes options that change nothing.
  public init() {}

  /// The metadata that is kept.
  public enum Metadata: String, Sendable, Hashable, CaseIterable {
    /// None.
    case none
    /// Copyright and author.
    case copyright
    /// All, with the place where the picture was taken.
    case all
  }
}
