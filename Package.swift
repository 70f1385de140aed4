// swift-tools-version: 6.2
import PackageDescription

// The shape of a build. For Apple's platforms Vitrine needs no library but the system's own frameworks. On Linux it
// needs those of Debian packages, unless `VITRINE_APPLE=1` asks for Apple's shape: then Tests/AppleStubs stands in for
// the frameworks, so that what is for Apple's platforms is compiled and tested here too.
#if os(Linux)
let isApple = Context.environment["VITRINE_APPLE"] == "1"
let hasStubs = isApple
#else
let isApple = true
let hasStubs = false
#endif

// Swift 6 mode, and unsafe code is marked.
let plain: [SwiftSetting] = [
  .treatWarning("DeprecatedDeclaration", as: .warning),
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// Every Swift target of ours is built like this. Warnings are errors where they have been seen: with Apple's own
// frameworks nobody has built Vitrine yet.
let strict: [SwiftSetting] =
  (isApple && !hasStubs ? [] : [.treatAllWarnings(as: .error)]) + plain
  + (isApple ? [.define("VITRINE_APPLE")] : [])

/// Frameworks of Apple's; a dependency only where stubs stand in for them.
func frameworks(_ names: String...) -> [Target.Dependency] { hasStubs ? names.map { .target(name: $0) } : [] }

/// A library of the system; `make setup` installs it.
///
/// SwiftPM reads the pkg-config files of all targets of a package, whichever products are used, and each file that is
/// missing or has flags that SwiftPM does not pass on is a warning in every package that depends on this one. So a
/// file is named only for headers that compilers do not find, and it is ours, in the module's folder.
/// `PKG_CONFIG_PATH` says that the libraries are elsewhere; then their own files are read.
func library(
  _ module: String,
  _ pkgConfig: String,
  apt: String,
  needsFlags: Bool = false,
) -> Target {
  let path = "Sources/System/\(module)"
  var file: String? = pkgConfig
  if Context.environment["PKG_CONFIG_PATH"] == nil {
    let own = "\(Context.packageDirectory)/\(path)/\(pkgConfig).pc"
    // SwiftPM takes what is behind a space for another file.
    file = !needsFlags ? nil : own.contains(" ") ? pkgConfig : own
  }
  return .systemLibrary(
    name: module,
    path: path,
    pkgConfig: file,
    providers: [.apt([apt])],
  )
}

// What reads and writes images, where the system has no framework for it.
let systemCodecs: [Target.Dependency] = isApple ? [] : ["CVitrineCodecs", "CLibWebP", "CLibGIF", "CLibLCMS"]

let package = Package(
  name: "Vitrine",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Vitrine", targets: ["Vitrine"]),
    .library(name: "VitrineImaging", targets: ["VitrineImaging"]),
    .library(name: "VitrineCaching", targets: ["VitrineCaching"]),
    .library(name: "VitrineHTTP", targets: ["VitrineHTTP"]),
    .library(name: "VitrineTesting", targets: ["VitrineTesting"]),
    .executable(name: "vitrine", targets: ["VitrineCommandLine"]),
  ],
  targets: [
    // The rooms of the house; ARCHITECTURE.md says what each may import.
    .target(
      name: "VitrineRuntime",
      dependencies: frameworks("URLLoading", "UIKit"),
      path: "Sources/Runtime",
      swiftSettings: strict,
    ),
    .target(
      name: "VitrineImaging",
      dependencies: ["VitrineRuntime", "CVitrineKernels"] + systemCodecs
        + frameworks("CoreGraphics", "ImageIO"),
      path: "Sources/Imaging",
      exclude: [isApple ? "Codecs/System" : "Codecs/ImageIO"],
      swiftSettings: strict,
    ),
    .target(
      name: "VitrineCaching",
      dependencies: ["VitrineRuntime", "CVitrineCaching"],
      path: "Sources/Caching",
      exclude: ["Disk/DiskFormat.md"],
      swiftSettings: strict,
    ),
    .target(
      name: "VitrineHTTP",
      dependencies: isApple ? ["VitrineRuntime"] : ["VitrineRuntime", "CVitrineCurl"],
      path: "Sources/HTTP",
      exclude: [isApple ? "Curl" : "URLSession"],
      swiftSettings: strict,
    ),
    .target(
      name: "Vitrine",
      dependencies: ["VitrineRuntime", "VitrineImaging", "VitrineCaching", "VitrineHTTP"],
      path: "Sources/Vitrine",
      swiftSettings: strict,
    ),
    .target(
      name: "VitrineTesting",
      dependencies: ["VitrineRuntime", "VitrineImaging", "VitrineCaching", "VitrineHTTP", "Vitrine"],
      path: "Sources/Testing",
      swiftSettings: strict,
    ),
    .executableTarget(
      name: "VitrineCommandLine",
      dependencies: ["VitrineRuntime", "VitrineImaging", "VitrineCaching", "VitrineHTTP", "Vitrine"],
      path: "Sources/CommandLine",
      swiftSettings: strict,
    ),

    // C: the loops of resampling and of PNG's filters for processors with AVX2.
    .target(name: "CVitrineKernels", path: "Sources/Shims/CVitrineKernels"),
    // C: the processor's instruction for checksums, and the sync of file data.
    .target(name: "CVitrineCaching", path: "Sources/Shims/CVitrineCaching"),

    .testTarget(
      name: "RuntimeTests",
      dependencies: ["VitrineRuntime", "VitrineTesting"],
      path: "Tests/RuntimeTests",
      swiftSettings: strict,
    ),
    .testTarget(
      name: "ImagingTests",
      dependencies: ["VitrineRuntime", "VitrineImaging", "VitrineTesting"] + (isApple ? [] : ["CLibLCMS"]),
      path: "Tests/ImagingTests",
      exclude: ["Fixtures"]
        + (hasStubs ? ["Codecs/System"] : isApple ? ["Codecs/System", "Codecs/ImageIO/Stubs"] : ["Codecs/ImageIO"]),
      swiftSettings: strict,
    ),
    .testTarget(
      name: "CachingTests",
      dependencies: ["VitrineRuntime", "VitrineCaching", "VitrineTesting"],
      path: "Tests/CachingTests",
      swiftSettings: strict,
    ),
    .testTarget(
      name: "HTTPTests",
      dependencies: ["VitrineRuntime", "VitrineHTTP", "VitrineTesting"],
      path: "Tests/HTTPTests",
      exclude: [isApple ? "Curl" : "URLSession"],
      swiftSettings: strict,
    ),
    .testTarget(
      name: "VitrineTests",
      dependencies: [
        "VitrineRuntime", "VitrineImaging", "VitrineCaching", "VitrineHTTP", "Vitrine", "VitrineTesting",
      ],
      path: "Tests/VitrineTests",
      swiftSettings: strict,
    ),
    .testTarget(
      name: "TestingTests",
      dependencies: [
        "VitrineRuntime", "VitrineImaging", "VitrineCaching", "VitrineHTTP", "Vitrine", "VitrineTesting",
      ],
      path: "Tests/TestingTests",
      swiftSettings: strict,
    ),
    .testTarget(
      name: "CommandLineTests",
      dependencies: ["VitrineImaging", "VitrineCaching", "VitrineTesting", "VitrineCommandLine"],
      path: "Tests/CommandLineTests",
      swiftSettings: strict,
    ),
  ],
  swiftLanguageModes: [.v6],
)

if isApple {
  package.products.append(.library(name: "VitrineApple", targets: ["VitrineApple"]))
  package.targets += [
    .target(
      name: "VitrineApple",
      dependencies: ["Vitrine"] + frameworks("UIKit", "AppKit", "Symbols", "Combine", "SwiftUI", "Network"),
      path: "Sources/Apple",
      swiftSettings: strict,
    ),
    .testTarget(
      name: "AppleTests",
      dependencies: ["VitrineRuntime", "Vitrine", "VitrineApple", "VitrineTesting"]
        + frameworks("UIKit", "AppKit", "Symbols", "Combine", "SwiftUI", "Network"),
      path: "Tests/AppleTests",
      exclude: hasStubs ? [] : ["Stubs"],
      swiftSettings: strict,
    ),
  ]
}

if hasStubs {
  // Modules with the names of Apple's frameworks; the README of their folder says what they are for. `_KitShared` is what
  // UIKit and AppKit have in common.
  let stubs: [(name: String, dependencies: [Target.Dependency])] = [
    ("CoreGraphics", []), ("ImageIO", ["CoreGraphics"]), ("URLLoading", []), ("Network", []), ("Combine", []),
    ("SwiftUI", ["CoreGraphics"]), ("QuartzCore", ["CoreGraphics"]), ("Symbols", []),
    ("_KitShared", ["CoreGraphics", "QuartzCore", "Symbols"]), ("UIKit", ["_KitShared"]), ("AppKit", ["_KitShared"]),
  ]
  package.targets += stubs.map { stub in
    .target(name: stub.name, dependencies: stub.dependencies, path: "Tests/AppleStubs/Sources/\(stub.name)")
  }
  package.targets += [
    // The codecs of the stub of ImageIO: Linux's, over what the module under test has for every platform.
    .target(
      name: "StubCodecs",
      dependencies: ["VitrineImaging", "CVitrineCodecs", "CLibWebP", "CLibGIF", "CLibLCMS"]
        + frameworks("CoreGraphics", "ImageIO"),
      path: "Tests/StubCodecs",
      exclude: ["System/EncoderMemory.swift", "System/PlatformCodecs.swift"],
      swiftSettings: plain + [.unsafeFlags(["-Xfrontend", "-testable-import-module", "-Xfrontend", "VitrineImaging"])],
    ),
    .target(name: "StubStart", dependencies: ["StubCodecs"], path: "Tests/StubStart"),
    // An app, which AppleTests launch.
    .executableTarget(
      name: "PhotosTable",
      dependencies: ["VitrineApple"] + frameworks("UIKit"),
      path: "Examples/PhotosTable/Sources",
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
  ]
  // What differs between the shapes; the rest was tested in Linux's.
  let sources = [
    "AppleTests": nil, "HTTPTests": ["Loader", "URLSession"],
    "ImagingTests": ["Codecs", "Support", "Frames/AnimatedImageTests.swift", "Frames/FrameSourceTests.swift"],
    "VitrineTests": ["Platform", "PreviewTests.swift"],
  ]
  // The toolchain's Testing has overlays for some modules of Apple's, which Linux lacks.
  let withoutOverlays: [SwiftSetting] = [.unsafeFlags(["-Xfrontend", "-disable-cross-import-overlays"])]
  package.targets.removeAll { $0.isTest && !sources.keys.contains($0.name) }
  for target in package.targets where target.isTest {
    target.sources = sources[target.name] ?? nil
    target.dependencies += ["StubStart", "StubCodecs"] + frameworks("CoreGraphics", "ImageIO")
    if target.name == "AppleTests" { target.dependencies.append("PhotosTable") }
    target.swiftSettings? += withoutOverlays
  }
  package.targets.append(
    .testTarget(
      name: "AppleStubsTests",
      dependencies: stubs.map { .target(name: $0.name) },
      path: "Tests/AppleStubs/Tests",
      swiftSettings: withoutOverlays,
    )
  )
}

if !isApple || hasStubs {
  package.targets += [
    // C: libjpeg's and libpng's setjmp, and macros of theirs and zlib's, turned into functions.
    .target(
      name: "CVitrineCodecs",
      dependencies: ["CLibJPEG", "CLibPNG"],
      path: "Sources/Shims/CVitrineCodecs",
      // Swift links what it imports, and C does not.
      linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("png"), .linkedLibrary("z")],
    ),
    library("CLibJPEG", "libjpeg", apt: "libjpeg-dev"),
    library("CLibPNG", "libpng", apt: "libpng-dev"),
    library("CLibWebP", "libwebpdemux", apt: "libwebp-dev"),
    library("CLibGIF", "libgif", apt: "libgif-dev"),
    library("CLibLCMS", "lcms2", apt: "liblcms2-dev"),
  ]
}
if !isApple {
  package.targets.append(
    // C: libcurl, opened when it is first needed. Its headers are where the compiler looks.
    .target(
      name: "CVitrineCurl",
      path: "Sources/Shims/CVitrineCurl",
    )
  )

  // GTK is the front door of Linux; elsewhere its targets do not exist, so that nobody has to install it.
  package.products += [
    .library(name: "VitrineGTK", targets: ["VitrineGTK"]),
    .executable(name: "vitrine-gallery", targets: ["VitrineGallery"]),
  ]
  package.targets += [
    .target(
      name: "VitrineGTK",
      dependencies: ["Vitrine", "VitrineRuntime", "CVitrineGTK", "CGTK"],
      path: "Sources/GTK",
      swiftSettings: strict,
    ),
    // The gallery without its windows, so that it is tested without GTK.
    .target(
      name: "VitrineGalleryModel",
      dependencies: ["VitrineRuntime", "VitrineImaging"],
      path: "Sources/Gallery/Model",
      swiftSettings: strict,
    ),
    .executableTarget(
      name: "VitrineGallery",
      dependencies: [
        "Vitrine", "VitrineRuntime", "VitrineGTK", "VitrineTesting", "VitrineImaging", "VitrineCaching",
        "VitrineAVIF", "VitrineHEIF", "VitrineJXL", "VitrineSVG", "VitrineTIFF", "VitrineGalleryModel", "CVitrineGTK",
        "CGTK",
      ],
      path: "Sources/Gallery",
      exclude: ["Model", "Translations"],
      swiftSettings: strict,
    ),
    .testTarget(
      name: "GalleryTests",
      dependencies: ["VitrineRuntime", "VitrineImaging", "VitrineTesting", "VitrineGalleryModel"],
      path: "Tests/GalleryTests",
      swiftSettings: strict,
    ),

    // C: GTK's macros, casts and variadic functions as plain ones.
    .target(name: "CVitrineGTK", dependencies: ["CGTK"], path: "Sources/Shims/CVitrineGTK"),
    library("CGTK", "gtk4", apt: "libgtk-4-dev", needsFlags: true),

    // What `make accessibility` reads as a screen reader does.
    .executableTarget(
      name: "accessible-window",
      dependencies: ["Vitrine", "VitrineRuntime", "VitrineGTK", "CGTK"],
      path: "Tests/AccessibleWindow",
      swiftSettings: strict,
    ),

    // XCTest, since only that runs on the main thread.
    .testTarget(
      name: "GTKTests",
      dependencies: ["Vitrine", "VitrineRuntime", "VitrineGTK", "VitrineTesting", "CVitrineGTK", "CGTK"],
      path: "Tests/GTKTests",
      // Read where they stand.
      exclude: ["Golden/scale-1.txt", "Golden/scale-2.txt"],
      swiftSettings: strict,
    ),
  ]

  // One heavy codec each, so that who depends on Vitrine builds only those that it names. C: opens the library when it is
  // first needed; for SVG and TIFF also its macros, casts and variadic functions as plain ones.
  let codecs: [(name: String, shim: String, library: Target)] = [
    ("AVIF", "CVitrineAVIF", library("CLibAVIF", "libavif", apt: "libavif-dev")),
    ("HEIF", "CVitrineHEIF", library("CLibHEIF", "libheif", apt: "libheif-dev")),
    ("JXL", "CVitrineJXL", library("CLibJXL", "libjxl", apt: "libjxl-dev")),
    ("SVG", "CVitrineSVG", library("CLibRSVG", "librsvg-2.0", apt: "librsvg2-dev", needsFlags: true)),
    ("TIFF", "CVitrineTIFF", library("CLibTIFF", "libtiff-4", apt: "libtiff-dev")),
  ]
  for codec in codecs {
    package.products.append(.library(name: "Vitrine\(codec.name)", targets: ["Vitrine\(codec.name)"]))
    package.targets += [
      .target(
        name: "Vitrine\(codec.name)",
        dependencies: [
          "VitrineRuntime", "VitrineImaging", .target(name: codec.shim), .target(name: codec.library.name),
        ],
        path: "Sources/Codecs/\(codec.name)",
        swiftSettings: strict,
      ),
      codec.library,
      .target(
        name: codec.shim,
        dependencies: [.target(name: codec.library.name)],
        path: "Sources/Shims/\(codec.shim)",
      ),
    ]
  }

  // Decoding in processes that can do nothing else. `vitrine` has heavy formats decoded there, so that it does not pay for
  // their libraries at every start.
  package.products += [
    .library(name: "VitrineSandbox", targets: ["VitrineSandbox"]),
    .executable(name: "vitrine-codecs", targets: ["vitrine-codecs"]),
  ]
  package.targets += [
    .target(
      name: "VitrineSandbox",
      dependencies: ["VitrineRuntime", "VitrineImaging", "CVitrineSandbox"],
      path: "Sources/Sandbox",
      swiftSettings: strict,
    ),
    // C: shared memory that is sealed, messages with descriptors, and limits of other processes.
    .target(name: "CVitrineSandbox", path: "Sources/Shims/CVitrineSandbox"),
    .target(
      name: "VitrineConfinement",
      dependencies: ["VitrineRuntime", "VitrineSandbox", "CVitrineConfinement", "CLibSeccomp"],
      path: "Sources/Confinement",
      swiftSettings: strict,
    ),
    // C: system calls that are variadic, or that the C library does not offer.
    .target(name: "CVitrineConfinement", path: "Sources/Shims/CVitrineConfinement"),
    library("CLibSeccomp", "libseccomp", apt: "libseccomp-dev"),
    .executableTarget(
      name: "vitrine-codecs",
      dependencies: ["VitrineRuntime", "VitrineImaging", "VitrineConfinement", "VitrineSandbox"]
        + codecs.map { .target(name: "Vitrine\($0.name)") },
      path: "Sources/CodecWorker",
      swiftSettings: strict,
    ),
  ]
  // Tiers that servers share, each over an engine.
  package.products.append(.library(name: "VitrineRedis", targets: ["VitrineRedis"]))
  package.targets += [
    .target(
      name: "VitrineRedis",
      dependencies: ["VitrineRuntime", "VitrineCaching", "CLibHiredis"],
      path: "Sources/Tiers/Redis",
      swiftSettings: strict,
    ),
    library("CLibHiredis", "hiredis", apt: "libhiredis-dev"),
    // One of several pipelines that share a server, as a process.
    .executableTarget(
      name: "fleet-member",
      dependencies: ["VitrineRuntime", "VitrineImaging", "VitrineCaching", "VitrineHTTP", "Vitrine", "VitrineRedis"],
      path: "Tests/FleetMember",
      swiftSettings: strict,
    ),
    .testTarget(
      name: "RedisTests",
      dependencies: [
        "VitrineRuntime", "VitrineImaging", "VitrineCaching", "VitrineHTTP", "Vitrine", "VitrineTesting",
        "VitrineRedis", "fleet-member",
      ],
      path: "Tests/RedisTests",
      swiftSettings: strict,
    ),
  ]
  // The thumbnail server, for programs that embed it, and as a program.
  package.products += [
    .library(name: "VitrineServing", targets: ["VitrineServing"]),
    .executable(name: "vitrine-server", targets: ["vitrine-server"]),
  ]
  package.targets += [
    .target(
      name: "VitrineServing",
      dependencies: [
        "VitrineRuntime", "VitrineImaging", "VitrineCaching", "VitrineHTTP", "Vitrine", "VitrineSandbox",
        "VitrineS3", "VitrineServingRequests", "CVitrineMHD", "CLibMicroHTTPD",
      ],
      path: "Sources/Server",
      exclude: ["Program", "Requests"],
      swiftSettings: strict,
    ),
    .executableTarget(
      name: "vitrine-server",
      dependencies: ["VitrineRuntime", "VitrineCaching", "VitrineServing", "VitrineRedis"],
      path: "Sources/Server/Program",
      swiftSettings: strict,
    ),
    // C: libmicrohttpd's variadic functions as plain ones.
    .target(
      name: "CVitrineMHD",
      dependencies: ["CLibMicroHTTPD"],
      path: "Sources/Shims/CVitrineMHD",
      linkerSettings: [.linkedLibrary("microhttpd")],
    ),
    library("CLibMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev"),
    .testTarget(
      name: "ServerTests",
      dependencies: [
        "VitrineRuntime", "VitrineImaging", "VitrineCaching", "VitrineHTTP", "Vitrine", "VitrineSandbox",
        "VitrineS3", "VitrineTesting", "VitrineServing", "vitrine-server",
      ],
      path: "Tests/ServerTests",
      exclude: ["Requests"],
      swiftSettings: strict,
    ),
  ]
  for target in package.targets where target.name == "VitrineCommandLine" {
    target.dependencies += ["VitrineS3", "VitrineRedis", "VitrineSandbox", "VitrineServingRequests"]
    target.swiftSettings = strict + [.define("OBJECTS"), .define("SANDBOX"), .define("SERVING"), .define("TIERS")]
  }
  for target in package.targets where target.name == "CommandLineTests" {
    target.dependencies.append("vitrine-codecs")
  }

  // What a thumbnail server reads from URLs and headers, without the server: the tool signs URLs.
  package.targets += [
    .target(
      name: "VitrineServingRequests",
      dependencies: ["VitrineRuntime", "VitrineImaging", "VitrineHTTP", "Vitrine"],
      path: "Sources/Server/Requests",
      swiftSettings: strict,
    ),
    .testTarget(
      name: "ServerRequestTests",
      dependencies: [
        "VitrineRuntime", "VitrineImaging", "VitrineHTTP", "Vitrine", "VitrineTesting", "VitrineServingRequests",
      ],
      path: "Tests/ServerTests/Requests",
      swiftSettings: strict,
    ),
  ]

  // Tiers that the machines of a fleet share.
  package.products.append(.library(name: "VitrineS3", targets: ["VitrineS3"]))
  package.targets += [
    .target(
      name: "VitrineS3",
      dependencies: ["VitrineRuntime", "VitrineCaching", "VitrineHTTP"],
      path: "Sources/Tiers/S3",
      swiftSettings: strict,
    ),
    .testTarget(
      name: "S3Tests",
      dependencies: [
        "VitrineRuntime", "VitrineImaging", "VitrineCaching", "VitrineHTTP", "Vitrine", "VitrineTesting", "VitrineS3",
      ],
      path: "Tests/S3Tests",
      swiftSettings: strict,
    ),
  ]

  package.targets += [
    // What a decoder that has been taken over would do.
    .executableTarget(
      name: "rogue",
      dependencies: ["VitrineRuntime", "VitrineImaging", "VitrineConfinement", "VitrineSandbox", "CVitrineSandbox"],
      path: "Tests/Rogue",
      swiftSettings: strict,
    ),
    .testTarget(
      name: "ConfinementTests",
      dependencies: ["VitrineRuntime", "VitrineConfinement", "VitrineTesting", "rogue"],
      path: "Tests/ConfinementTests",
      swiftSettings: strict,
    ),
  ]

  package.targets.append(
    .testTarget(
      name: "SandboxTests",
      dependencies: [
        "VitrineRuntime", "VitrineImaging", "Vitrine", "VitrineTesting", "VitrineSandbox", "VitrineConfinement",
        "CVitrineSandbox", "vitrine-codecs", "rogue",
      ] + codecs.map { .target(name: "Vitrine\($0.name)") },
      path: "Tests/SandboxTests",
      swiftSettings: strict,
    )
  )

  package.targets.append(
    .testTarget(
      name: "CodecTests",
      dependencies: [
        "VitrineRuntime", "VitrineImaging", "Vitrine", "VitrineTesting",
      ] + codecs.map { .target(name: "Vitrine\($0.name)") },
      path: "Tests/CodecTests",
      exclude: ["Fixtures"],
      swiftSettings: strict,
    )
  )

  package.targets.append(
    // The targets of `make fuzz`, so that what is fuzzed for hours now and then is compiled and run for moments always.
    .testTarget(
      name: "FuzzTests",
      dependencies: ["VitrineImaging", "VitrineHTTP", "VitrineCaching", "VitrineTesting", "VitrineSandbox"]
        + codecs.map { .target(name: "Vitrine\($0.name)") },
      path: "Fuzz",
      exclude: [
        "Package.swift", "Seeds", "Sources/CFuzzer", "Sources/hostile-images", "Sources/mutate", "Sources/siege",
        "Sources/vitrine-fuzz/main.swift",
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    )
  )
}
