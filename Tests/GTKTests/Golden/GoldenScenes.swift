import CGTK
import Foundation
import Vitrine
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineGTK

/// Everything that a picture can look like.
///
/// No scene has text, since fonts differ from machine to machine.
@MainActor
enum GoldenScenes {
  static let all = images + shapes + placeholders + failures + progress + animations

  // MARK: Images

  private static let images: [GoldenScene] = [
    GoldenScene(name: "fill") { $0.load(photo("macaws-444.jpg")) },
    GoldenScene(name: "fill-dark", isDark: true) { $0.load(photo("macaws-444.jpg")) },
    GoldenScene(name: "fit", mode: .fit) { $0.load(photo("red-door-palette.png")) },
    GoldenScene(name: "fit-dark", isDark: true, mode: .fit) { $0.load(photo("red-door-palette.png")) },
    GoldenScene(name: "fit-bottom-right", mode: .fit) { picture in
      picture.alignment = .bottomRight
      picture.load(photo("red-door-palette.png"))
    },
    GoldenScene(name: "fit-small", mode: .fit) { $0.load(small) },
    GoldenScene(name: "exact", mode: .exact) { $0.load(photo("red-door-palette.png")) },
    GoldenScene(name: "fill-cut-by-the-widget-top") { picture in
      picture.alignment = .top
      picture.load(tall)
    },
    GoldenScene(name: "fill-cut-by-the-widget-bottom") { picture in
      picture.alignment = .bottom
      picture.load(tall)
    },
    GoldenScene(name: "transparent", mode: .fit) { $0.load(photo("hibiscus-window-alpha.png")) },
    GoldenScene(name: "transparent-dark", isDark: true, mode: .fit) { $0.load(photo("hibiscus-window-alpha.png")) },
    GoldenScene(name: "upright", mode: .fit) { $0.load(photo("waterfall-cliff-orientation-6.jpg")) },
    GoldenScene(name: "empty") {
      $0.clear()
    } isReady: { _ in
      true
    },
  ]

  // MARK: Shapes

  private static let shapes: [GoldenScene] = [
    GoldenScene(name: "circle", width: 120) { picture in
      picture.shape = .circle
      picture.load(photo("macaws-444.jpg"))
    },
    GoldenScene(name: "circle-in-a-wide-widget") { picture in
      picture.shape = .circle
      picture.load(photo("macaws-444.jpg"))
    },
    GoldenScene(name: "rounded") { picture in
      picture.shape = .rounded(radius: 20)
      picture.load(photo("macaws-444.jpg"))
    },
    GoldenScene(name: "rounded-fit", mode: .fit) { picture in
      picture.shape = .rounded(radius: 20)
      picture.load(photo("red-door-palette.png"))
    },
    GoldenScene(name: "pill") { picture in
      picture.shape = .rounded(radius: 1000)
      picture.load(photo("macaws-444.jpg"))
    },
    GoldenScene(name: "circle-of-a-colour-dark", isDark: true) { picture in
      picture.shape = .circle
      picture.load(endless, placeholder: .color(.init(0x3A6EA5)))
    } isReady: {
      $0.content.isPlaceholder
    },
  ]

  // MARK: Placeholders

  private static let placeholders: [GoldenScene] = [
    placeholder("colour", .color(.init(0x3A6EA5))),
    placeholder("translucent-colour", .color(PixelColor(red: 58, green: 110, blue: 165, alpha: 96))),
    placeholder("symbol", .symbol("image-x-generic-symbolic"), icons: ["image-x-generic-symbolic"]),
    placeholder("symbol-dark", .symbol("image-x-generic-symbolic"), isDark: true, icons: ["image-x-generic-symbolic"]),
    placeholder("symbol-in-colours", .symbol("image-x-generic"), icons: ["image-x-generic"]),
    placeholder("thumbhash", .thumbHash(ThumbHash(lighthouse))),
    placeholder("thumbhash-fit", .thumbHash(ThumbHash(lighthouse)), mode: .fit),
    placeholder("thumbhash-rounded", .thumbHash(ThumbHash(lighthouse)), mode: .fit) { $0.shape = .rounded(radius: 20) },
    placeholder("thumbhash-transparent", .thumbHash(ThumbHash(hibiscus)), mode: .fit),
    placeholder("blurhash", .blurHash("LKO2?U%2Tw=w]~RBVZRi};RPxuwH")),
    placeholder("blurhash-fit", .blurHash("LKO2?U%2Tw=w]~RBVZRi};RPxuwH", aspectRatio: 0.75), mode: .fit),
    placeholder("resource", .resource(resourceName), mode: .fit),
    placeholder("resource-fill", .resource(resourceName)),
    placeholder("image", .image(lighthouse)),
    placeholder("image-fit", .image(lighthouse), mode: .fit),
  ]

  private static func placeholder(
    _ name: String,
    _ placeholder: Placeholder,
    mode: TargetSize.Mode = .fill,
    isDark: Bool = false,
    icons: [String] = [],
    _ configure: @escaping (RemotePicture) -> Void = { _ in },
  ) -> GoldenScene {
    GoldenScene(name: "placeholder-\(name)", isDark: isDark, mode: mode, icons: icons) { picture in
      try provideResource()
      configure(picture)
      picture.load(endless, placeholder: placeholder)
    } isReady: {
      !$0.content.isEmpty
    }
  }

  // MARK: Failures

  private static let failures: [GoldenScene] = [false, true].flatMap { isDark in
    let suffix = isDark ? "-dark" : ""
    let icons = ["image-missing", "image-missing-symbolic", "view-refresh-symbolic"]
    @MainActor
    func failure(
      _ name: String,
      width: Int = 160,
      height: Int = 120,
      _ load: @escaping (RemotePicture) -> Void,
    ) -> GoldenScene {
      GoldenScene(name: "failure-\(name)\(suffix)", isDark: isDark, width: width, height: height, icons: icons) {
        picture in
        load(picture)
      } isReady: {
        $0.content.isFailure
      }
    }
    return [
      failure("symbol") { $0.load(broken, failure: .symbol("image-missing-symbolic")) },
      failure("retry") { picture in
        picture.showsRetry = true
        picture.load(broken, failure: .symbol("image-missing-symbolic"))
      },
      failure("retry-on-a-colour") { picture in
        picture.showsRetry = true
        picture.load(broken, placeholder: .color(.init(0x3A6EA5)))
      },
      failure("retry-on-a-picture") { picture in
        picture.showsRetry = true
        picture.load(broken, failure: .image(lighthouse))
      },
      failure("retry-small", width: 48, height: 48) { picture in
        picture.showsRetry = true
        picture.load(broken, failure: .symbol("image-missing-symbolic"))
      },
    ]
  }

  // MARK: Progress

  private static let progress: [GoldenScene] = [
    ring("of-unknown-length", 0),
    ring("of-unknown-length-dark", 0, isDark: true),
    ring("at-40-percent", 40),
    ring("at-40-percent-dark", 40, isDark: true),
    ring("on-a-colour", 75, .color(.init(0x3A6EA5))),
    ring("on-a-dark-colour", 75, .color(.init(0x101418))),
    ring("on-a-blurhash", 75, .blurHash("LKO2?U%2Tw=w]~RBVZRi};RPxuwH")),
    ring("on-a-symbol", 75, .symbol("image-x-generic-symbolic"), icons: ["image-x-generic-symbolic"]),
    ring(
      "on-a-symbol-small",
      75,
      .symbol("image-x-generic-symbolic"),
      width: 48,
      height: 48,
      icons: ["image-x-generic-symbolic"],
    ),
    ring("small", 40, width: 32, height: 32),
  ]

  private static func ring(
    _ name: String,
    _ percent: Int,
    _ placeholder: Placeholder = .none,
    isDark: Bool = false,
    width: Int = 160,
    height: Int = 120,
    icons: [String] = [],
  ) -> GoldenScene {
    GoldenScene(name: "progress-\(name)", isDark: isDark, width: width, height: height, icons: icons) { picture in
      picture.showsProgress = true
      picture.load(endless, placeholder: placeholder)
    } isReady: {
      $0.view.ring?.isShown == true
    } finish: {
      $0.view.ring?.progressed(LoadProgress(completed: percent, total: percent == 0 ? 0 : 100))
    }
  }

  // MARK: Animations

  private static let animations: [GoldenScene] = ["boats-animated.gif", "houses-animated.webp"].flatMap { file in
    [0, 3].map { frame in
      GoldenScene(name: "\(file.prefix { $0 != "." })-frame-\(frame)") { picture in
        picture.plays = false
        picture.load(photo(file))
      } isReady: { picture in
        picture.player != nil
      } finish: { picture in
        guard let player = picture.player else { throw GoldenError(message: "there is no animation") }
        // Without motion only the first frame is shown, and with it the image would fade in.
        unsafe setProperty(gtk_settings_get_default(), "gtk-enable-animations", true)
        MainLoop.decode(frame, of: player.image)
        try player.seek(to: frame)
      }
    }
  }

  // MARK: Pictures

  private static func photo(_ name: String) -> ImageRequest {
    ImageRequest(.file(Photograph.folder.appending(path: name).path))
  }

  /// A picture of 64x48 pixels, smaller than the widgets, with a disc at the upper left.
  private static let small = ImageRequest(png(Bitmap.disc(width: 64, height: 48), "small"))
  /// A picture that only the widget can cut: its request has a size.
  private static let tall: ImageRequest = {
    var request = ImageRequest(png(Bitmap.disc(width: 320, height: 640), "tall"))
    request.size = .pixels(320, 640)
    return request
  }()
  private static let broken = ImageRequest(.data(Data("no picture".utf8), id: "broken"))
  /// A request that never ends.
  static let endless = ImageRequest(.closure(id: "endless") { try await Never.wait() })
  private static let lighthouse = decoded("white-lighthouse-adam7.png")
  private static let hibiscus = decoded("hibiscus-window-alpha.png")

  private static func png(_ bitmap: Bitmap, _ id: String) -> ImageSource {
    .data((try? bitmap.encoded(as: .png)) ?? Data(), id: id)
  }

  private static func decoded(_ name: String) -> Bitmap {
    let data = try? Photograph.data(name)
    return (try? Bitmap(decoding: data ?? Data(), size: .pixels(64, 64))) ?? .disc(width: 1, height: 1)
  }

  private static let resourceName = "vitrine-golden.png"

  /// Puts a picture where a program's own ones are: in the user's data folder of this process.
  private static func provideResource() throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "vitrine-golden-\(getpid())")
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe").split(separator: "/").last
    let own = home.appending(path: String(program ?? ""))
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
    try Bitmap.disc(width: 160, height: 160).encoded(as: .png).write(to: own.appending(path: resourceName))
    unsafe setenv("XDG_DATA_HOME", home.path, 1)
  }
}

extension Never {
  /// Waits until the caller is cancelled.
  fileprivate static func wait() async throws -> Data {
    let (stream, continuation) = AsyncStream<Data>.makeStream()
    defer { continuation.finish() }
    for await data in stream { return data }
    throw CancellationError()
  }
}

extension Bitmap {
  /// A blue gradient with a yellow disc at the upper left, which looks another way from each side.
  fileprivate static func disc(width: Int, height: Int) -> Bitmap {
    .pixels(width: width, height: height, alpha: .opaque) { x, y in
      let (left, top) = (Double(x) / Double(width) - 0.3, Double(y) / Double(height) - 0.3)
      if left * left + top * top < 0.04 { return SIMD4(240, 200, 40, 255) }
      return SIMD4(30, UInt8(60 + 120 * y / height), UInt8(120 + 100 * x / width), 255)
    }
  }
}

extension ImageSlot.Content {
  fileprivate var isEmpty: Bool { if case .empty = self { true } else { false } }
}
