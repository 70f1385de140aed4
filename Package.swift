// swift-tools-version: 6.2
import PackageDescription

// Every Swift target of ours is built like this: Swift 6 mode, warnings are errors, unsafe code is marked.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .treatWarning("DeprecatedDeclaration", as: .warning),
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

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
    .target(name: "VitrineRuntime", path: "Sources/Runtime", swiftSettings: strict),
    .target(
      name: "VitrineImaging",
      dependencies: ["VitrineRuntime", "CVitrineCodecs", "CVitrineKernels", "CLibWebP", "CLibGIF", "CLibLCMS"],
      path: "Sources/Imaging",
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
      dependencies: [
        "VitrineRuntime",
        .target(name: "CVitrineCurl", condition: .when(platforms: [.linux])),
      ],
      path: "Sources/HTTP",
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

    // C: libjpeg's and libpng's setjmp and macros turned into functions.
    .target(
      name: "CVitrineCodecs",
      dependencies: ["CLibJPEG", "CLibPNG"],
      path: "Sources/Shims/CVitrineCodecs",
    ),
    // C: the loops of resampling for processors with AVX2.
    .target(name: "CVitrineKernels", path: "Sources/Shims/CVitrineKernels"),
    // C: libcurl, opened when it is first needed. Its headers are where the compiler looks.
    .target(
      name: "CVitrineCurl",
      path: "Sources/Shims/CVitrineCurl",
    ),

    // C: the processor's instruction for checksums, and the sync of file data.
    .target(name: "CVitrineCaching", path: "Sources/Shims/CVitrineCaching"),

    // Libraries of the system. `make setup` installs them.
    .systemLibrary(
      name: "CLibJPEG",
      path: "Sources/System/CLibJPEG",
      pkgConfig: "libjpeg",
      providers: [.apt(["libjpeg-dev"]), .brew(["jpeg-turbo"])],
    ),
    .systemLibrary(
      name: "CLibPNG",
      path: "Sources/System/CLibPNG",
      pkgConfig: "libpng",
      providers: [.apt(["libpng-dev"]), .brew(["libpng"])],
    ),
    .systemLibrary(
      name: "CLibWebP",
      path: "Sources/System/CLibWebP",
      pkgConfig: "libwebpdemux",
      providers: [.apt(["libwebp-dev"]), .brew(["webp"])],
    ),
    .systemLibrary(
      name: "CLibGIF",
      path: "Sources/System/CLibGIF",
      pkgConfig: "libgif",
      providers: [.apt(["libgif-dev"]), .brew(["giflib"])],
    ),
    .systemLibrary(
      name: "CLibLCMS",
      path: "Sources/System/CLibLCMS",
      pkgConfig: "lcms2",
      providers: [.apt(["liblcms2-dev"]), .brew(["little-cms2"])],
    ),

    .testTarget(
      name: "RuntimeTests",
      dependencies: ["VitrineRuntime", "VitrineTesting"],
      path: "Tests/RuntimeTests",
      swiftSettings: strict,
    ),
    .testTarget(
      name: "ImagingTests",
      dependencies: ["VitrineRuntime", "VitrineImaging", "VitrineTesting", "CLibLCMS"],
      path: "Tests/ImagingTests",
      exclude: ["Fixtures"],
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

// GTK is the front door of Linux; elsewhere its targets do not exist, so that nobody has to install it.
#if os(Linux)
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
  .executableTarget(
    name: "VitrineGallery",
    dependencies: ["Vitrine", "VitrineRuntime", "VitrineGTK", "VitrineTesting", "CVitrineGTK", "CGTK"],
    path: "Sources/Gallery",
    swiftSettings: strict,
  ),

  // C: GTK's macros, casts and variadic functions as plain ones.
  .target(name: "CVitrineGTK", dependencies: ["CGTK"], path: "Sources/Shims/CVitrineGTK"),
  .systemLibrary(
    name: "CGTK",
    path: "Sources/System/CGTK",
    pkgConfig: "gtk4",
    providers: [.apt(["libgtk-4-dev"])],
  ),

  // XCTest, since only that runs on the main thread.
  .testTarget(
    name: "GTKTests",
    dependencies: ["Vitrine", "VitrineRuntime", "VitrineGTK", "VitrineTesting", "CVitrineGTK", "CGTK"],
    path: "Tests/GTKTests",
    swiftSettings: strict,
  ),
]
#endif

#if os(Linux)
// One heavy codec each, so that who depends on Vitrine builds only those that it names.
let codecs: [(name: String, shim: String?, libraries: [(module: String, pkgConfig: String)], apt: String)] = [
  ("AVIF", nil, [("CLibAVIF", "libavif")], "libavif-dev"),
  ("HEIF", nil, [("CLibHEIF", "libheif")], "libheif-dev"),
  ("JXL", nil, [("CLibJXL", "libjxl")], "libjxl-dev"),
  ("SVG", "CVitrineSVG", [("CLibRSVG", "librsvg-2.0")], "librsvg2-dev"),
  ("TIFF", "CVitrineTIFF", [("CLibTIFF", "libtiff-4")], "libtiff-dev"),
]
for codec in codecs {
  let libraries = codec.libraries.map { Target.Dependency.target(name: $0.module) }
  package.products.append(.library(name: "Vitrine\(codec.name)", targets: ["Vitrine\(codec.name)"]))
  package.targets += [
    .target(
      name: "Vitrine\(codec.name)",
      dependencies: ["VitrineRuntime", "VitrineImaging"] + (codec.shim.map { [.target(name: $0)] } ?? libraries),
      path: "Sources/Codecs/\(codec.name)",
      swiftSettings: strict,
    )
  ]
  if let shim = codec.shim {
    package.targets.append(.target(name: shim, dependencies: libraries, path: "Sources/Shims/\(shim)"))
  }
  package.targets += codec.libraries.map { module, pkgConfig in
    .systemLibrary(
      name: module,
      path: "Sources/System/\(module)",
      pkgConfig: pkgConfig,
      providers: [.apt([codec.apt])],
    )
  }
}

// `vitrine` has heavy formats decoded by another process, so that it does not pay for their libraries at every start.
package.products.append(.executable(name: "vitrine-codecs", targets: ["vitrine-codecs"]))
package.targets += [
  .target(
    name: "VitrineCodecProcess",
    dependencies: ["VitrineRuntime", "VitrineImaging"],
    path: "Sources/CodecProcess",
    swiftSettings: strict,
  ),
  .executableTarget(
    name: "vitrine-codecs",
    dependencies: ["VitrineRuntime", "VitrineCodecProcess"] + codecs.map { .target(name: "Vitrine\($0.name)") },
    path: "Sources/CodecWorker",
    swiftSettings: strict,
  ),
]
for target in package.targets where target.name == "VitrineCommandLine" {
  target.dependencies += ["VitrineCodecProcess"]
  target.swiftSettings = strict + [.define("CODEC_PROCESS")]
}
for target in package.targets where target.name == "CommandLineTests" {
  target.dependencies.append("vitrine-codecs")
}

package.targets.append(
  .testTarget(
    name: "CodecTests",
    dependencies: ["VitrineRuntime", "VitrineImaging", "VitrineTesting", "VitrineCodecProcess", "vitrine-codecs"]
      + codecs.map { .target(name: "Vitrine\($0.name)") },
    path: "Tests/CodecTests",
    exclude: ["Fixtures"],
    swiftSettings: strict,
  )
)
#endif
