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

/// A library of the system; `make setup` installs it.
///
/// SwiftPM reads the pkg-config files of all targets of a package, whichever products are used, and each file that is
/// missing or has flags that SwiftPM does not pass on is a warning in every package that depends on this one. So on
/// Linux a file is named only for headers that compilers do not find, and it is ours, in the module's folder.
/// `PKG_CONFIG_PATH` says that the libraries are elsewhere; then their own files are read.
func library(
  _ module: String,
  _ pkgConfig: String,
  apt: String,
  brew: String? = nil,
  needsFlags: Bool = false,
) -> Target {
  let path = "Sources/System/\(module)"
  var file: String? = pkgConfig
  #if os(Linux)
  if Context.environment["PKG_CONFIG_PATH"] == nil {
    let own = "\(Context.packageDirectory)/\(path)/\(pkgConfig).pc"
    // SwiftPM takes what is behind a space for another file.
    file = !needsFlags ? nil : own.contains(" ") ? pkgConfig : own
  }
  #endif
  return .systemLibrary(
    name: module,
    path: path,
    pkgConfig: file,
    providers: [.apt([apt])] + (brew.map { [.brew([$0])] } ?? []),
  )
}

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
      // Swift links what it imports, and C does not.
      linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("png")],
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

    library("CLibJPEG", "libjpeg", apt: "libjpeg-dev", brew: "jpeg-turbo"),
    library("CLibPNG", "libpng", apt: "libpng-dev", brew: "libpng"),
    library("CLibWebP", "libwebpdemux", apt: "libwebp-dev", brew: "webp"),
    library("CLibGIF", "libgif", apt: "libgif-dev", brew: "giflib"),
    library("CLibLCMS", "lcms2", apt: "liblcms2-dev", brew: "little-cms2"),

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
  library("CGTK", "gtk4", apt: "libgtk-4-dev", needsFlags: true),

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
let codecs: [(name: String, shim: String?, library: Target)] = [
  ("AVIF", nil, library("CLibAVIF", "libavif", apt: "libavif-dev")),
  ("HEIF", nil, library("CLibHEIF", "libheif", apt: "libheif-dev")),
  ("JXL", nil, library("CLibJXL", "libjxl", apt: "libjxl-dev")),
  ("SVG", "CVitrineSVG", library("CLibRSVG", "librsvg-2.0", apt: "librsvg2-dev", needsFlags: true)),
  ("TIFF", "CVitrineTIFF", library("CLibTIFF", "libtiff-4", apt: "libtiff-dev")),
]
for codec in codecs {
  package.products.append(.library(name: "Vitrine\(codec.name)", targets: ["Vitrine\(codec.name)"]))
  package.targets += [
    .target(
      name: "Vitrine\(codec.name)",
      dependencies: ["VitrineRuntime", "VitrineImaging", .target(name: codec.shim ?? codec.library.name)],
      path: "Sources/Codecs/\(codec.name)",
      swiftSettings: strict,
    ),
    codec.library,
  ]
  guard let shim = codec.shim else { continue }
  let dependency = Target.Dependency.target(name: codec.library.name)
  package.targets.append(
    .target(
      name: shim,
      dependencies: [dependency],
      path: "Sources/Shims/\(shim)",
      linkerSettings: codec.name == "TIFF" ? [.linkedLibrary("tiff")] : nil,
    )
  )
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
for target in package.targets where target.name == "VitrineCommandLine" {
  target.dependencies += ["VitrineSandbox"]
  target.swiftSettings = strict + [.define("SANDBOX")]
}
for target in package.targets where target.name == "CommandLineTests" {
  target.dependencies.append("vitrine-codecs")
}

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
      "VitrineRuntime", "VitrineImaging", "VitrineTesting",
    ] + codecs.map { .target(name: "Vitrine\($0.name)") },
    path: "Tests/CodecTests",
    exclude: ["Fixtures"],
    swiftSettings: strict,
  )
)
#endif
