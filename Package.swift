// swift-tools-version: 6.2
import PackageDescription

// There are two variants of the package. For Apple's platforms Vitrine needs no library but the system's own frameworks.
// On Linux it needs those of Debian packages, unless `VITRINE_APPLE=1` asks for Apple's variant: then `isApple` is true,
// and the modules of Tests/AppleStubs stand in for the frameworks, so that this code is compiled and tested here too.
#if os(Linux)
let (isApple, hasStubs) = Context.environment["VITRINE_APPLE"] == "1" ? (true, true) : (false, false)
#else
let (isApple, hasStubs) = (true, false)
#endif

// `make test` sets VITRINE_TEST_BUILD to 1. SwiftPM refuses a dependency with unsafe flags, so only that build has them. With
// `release`, all modules but those of tests are optimised, without the checks of a debug build.
let testBuild = Context.environment["VITRINE_TEST_BUILD"]
let isTestBuild = testBuild == "1" || testBuild == "release"

// Unsafe code is marked. Warnings are errors, except those of deprecation, and all on a real Mac, where nobody has built
// Vitrine yet. Tests run some modules over millions of pixels, so a test build optimises these (`isHot`), and keeps a debug
// build's checks, including those of the bounds of unsafe buffers.
func settings(isHot: Bool = false) -> [SwiftSetting] {
  let imports = ["InternalImportsByDefault", "MemberImportVisibility"]
  let features = imports + ["ExistentialAny", "NonisolatedNonsendingByDefault"]
  return (isApple && !hasStubs ? [] : [.treatAllWarnings(as: .error)])
    + [.treatWarning("DeprecatedDeclaration", as: .warning), .strictMemorySafety()]
    + features.map { .enableUpcomingFeature($0) } + (isApple ? [.define("VITRINE_APPLE")] : [])
    + (isHot && isTestBuild
      ? [.unsafeFlags(["-O", "-wmo", "-num-threads", "2", "-assert-config", testBuild == "1" ? "Debug" : "Release"])]
      : [])
}

// Turns names separated by spaces into dependencies.
func list(_ names: String) -> [Target.Dependency] { names.split(separator: " ").map { .target(name: String($0)) } }

// Apple wants reasons from modules that look at files, disks or the uptime; VitrineApple.docc lists the uses. Only a build
// for Apple's platforms has the file as a resource.
let privacyManifest = "PrivacyInfo.xcprivacy"
let withPrivacyManifest = ["Sources/Runtime", "Sources/Caching", "Sources/Apple/Photos"]

// A module of Vitrine's. ARCHITECTURE.md says what each may import, and CONTRIBUTING.md how to add one.
func room(_ name: String, _ path: String, _ needs: String, isHot: Bool = false) -> Target {
  let (needs, settings) = (list(needs), settings(isHot: isHot || testBuild == "release"))
  var (exclude, resources) = (unused[path] ?? [], [Resource]())
  if withPrivacyManifest.contains(path) {
    if isApple && !hasStubs { resources = [.copy(privacyManifest)] } else { exclude.append(privacyManifest) }
  }
  return .target(
    name: name,
    dependencies: needs,
    path: path,
    exclude: exclude,
    resources: resources,
    swiftSettings: settings,
  )
}

// A program.
func program(_ name: String, _ path: String, _ needs: String) -> Target {
  let (needs, unused) = (list(needs), unused[path] ?? [])
  return .executableTarget(name: name, dependencies: needs, path: path, exclude: unused, swiftSettings: settings())
}

// A target of tests. It depends on the core, Tests/Support and the targets it names. A guest sees only what is public, as
// another package does, and not Tests/Support.
func tests(_ name: String, _ needs: String = "", at path: String? = nil, isGuest: Bool = false) -> Target {
  let path = path ?? "Tests/\(name)"
  return .testTarget(
    name: name,
    dependencies: list("\(core) VitrineTesting \(isGuest ? "" : "VitrineTestSupport") \(needs)"),
    path: path,
    exclude: unused[path] ?? [],
    packageAccess: !isGuest,
    swiftSettings: isGuest ? [.treatAllWarnings(as: .error)] : settings(),
  )
}

// C that turns macros, `setjmp` and variadic functions into plain functions, or that needs vector instructions.
func shim(_ name: String, _ needs: String = "", links: [String] = []) -> Target {
  let (path, settings) = ("Sources/Shims/\(name)", isTestBuild ? [CSetting.unsafeFlags(["-O2"])] : [])
  // A module map links its library where Swift imports it; what only C uses is linked here.
  let links = links.map { LinkerSetting.linkedLibrary($0) }
  return .target(name: name, dependencies: list(needs), path: path, cSettings: settings, linkerSettings: links)
}

// A library of the system. Its row in Scripts/packages.txt lets `make setup` install it; its module map links it.
//
// SwiftPM reads the pkg-config file of every target, used or not, and in every package that depends on this one it warns
// of a file that is missing or has a flag it does not know. So only where the compiler would not find the headers, a copy
// of ours in the module's folder is named. With `PKG_CONFIG_PATH` set, the libraries' own files are read.
func library(_ module: String, _ pkgConfig: String, apt: String, needsFlags: Bool = false) -> Target {
  let path = "Sources/System/\(module)"
  var file: String? = pkgConfig
  if Context.environment["PKG_CONFIG_PATH"] == nil {
    let own = "\(Context.packageDirectory)/\(path)/\(pkgConfig).pc"
    // SwiftPM splits the path at spaces.
    file = !needsFlags ? nil : own.contains(" ") ? pkgConfig : own
  }
  return .systemLibrary(name: module, path: path, pkgConfig: file, providers: [.apt([apt])])
}

// Frameworks of Apple's; dependencies only where stubs stand in for them.
func frameworks(_ names: String) -> String { hasStubs ? names : "" }

// Files of a target's folder that are no code, or belong to another target or to the other variant.
let unused = [
  "Sources/Imaging": ["README.md", isApple ? "Codecs/System" : "Codecs/ImageIO"],
  "Sources/Caching": ["README.md", "Disk/DiskFormat.md"],
  "Sources/HTTP": ["README.md", isApple ? "Curl" : "URLSession"],
  "Sources/Gallery": ["README.md", "Model", "Translations"],
  "Sources/Server": ["README.md", "Program", "Requests"],
  "Sources/Tiers": ["README.md", "Redis", "S3"],
  "Sources/Runtime": ["README.md"], "Sources/Vitrine": ["README.md"], "Sources/Tiles": ["README.md"],
  "Sources/Apple": ["README.md", "Photos"], "Sources/Apple/Photos": ["README.md"], "Sources/GTK": ["README.md"],
  "Sources/Sandbox": ["README.md"], "Sources/Bridges": ["README.md"],
  "Sources/CommandLine": ["README.md"], "Sources/Text": ["README.md", isApple ? "Pango" : "CoreText"],
  "Tests/AppleTests": hasStubs ? [] : ["Stubs"],
  "Tests/CodecTests": ["Fixtures"],
  "Tests/GTKTests": ["Golden/scale-1.txt", "Golden/scale-2.txt"],
  "Tests/HTTPTests": [isApple ? "Curl" : "URLSession"],
  "Tests/ImagingTests": ["Fixtures", isApple ? "Codecs/System" : "Codecs/ImageIO"]
    + (isApple && !hasStubs ? ["Codecs/ImageIO/Stubs"] : []),
  "Tests/ServerTests": ["Requests"],
  "Tests/TextTests": hasStubs ? [] : ["Stubs"],
  "Tests/StubCodecs": ["System/EncoderMemory.swift", "System/JPEGTurn.swift", "System/PlatformCodecs.swift"],
  "Fuzz": ["Package.swift", "Seeds"]
    + ["CFuzzer", "hostile-images", "lying-extensions", "mutate", "sandbox-faults", "vitrine-fuzz/main.swift"].map {
      "Sources/\($0)"
    },
]

// MARK: On every platform
let core = "VitrineRuntime VitrineImaging VitrineCaching VitrineHTTP Vitrine"
let systemCodecs = "CVitrineCodecs CLibWebP CLibGIF CLibLCMS"  // JPEG and PNG, WebP, GIF, colours
let pictures = isApple ? frameworks("CoreGraphics ImageIO") : systemCodecs
let extras = isApple ? "" : "VitrineS3 VitrineRedis VitrineSandbox VitrineServingRequests"
let typesetter = isApple ? frameworks("CoreGraphics CoreText") : "CVitrineText"
var libraries = "Vitrine VitrineTiles VitrineTiers VitrineText VitrineImaging VitrineCaching VitrineHTTP VitrineTesting"
var programs = [("vitrine", "VitrineCommandLine")]
var targets = [
  room("VitrineRuntime", "Sources/Runtime", frameworks("URLLoading UIKit"), isHot: true),
  room("VitrineImaging", "Sources/Imaging", "VitrineRuntime CVitrineKernels \(pictures)", isHot: true),
  room("VitrineCaching", "Sources/Caching", "VitrineRuntime CVitrineCaching"),
  room("VitrineHTTP", "Sources/HTTP", isApple ? "VitrineRuntime" : "VitrineRuntime CVitrineCurl"),
  room("Vitrine", "Sources/Vitrine", "VitrineRuntime VitrineImaging VitrineCaching VitrineHTTP"),
  room("VitrineTiles", "Sources/Tiles", core), room("VitrineTiers", "Sources/Tiers", core),
  room("VitrineText", "Sources/Text", "VitrineRuntime VitrineImaging \(typesetter)"),
  room("VitrineTesting", "Sources/Testing", core, isHot: true),
  program("VitrineCommandLine", "Sources/CommandLine", "\(core) VitrineTiers \(extras)"),
  shim("CVitrineKernels"), shim("CVitrineCaching"),
  room("VitrineTestSupport", "Tests/Support", "\(core) VitrineTiers VitrineTesting", isHot: true),
  tests("HTTPTests"), tests("ImagingTests", isApple ? "" : "CLibLCMS"), tests("VitrineTests", "VitrineTiers"),
  tests("TextTests", "VitrineText"),
]

if !isApple || hasStubs {
  targets += [
    shim("CVitrineCodecs", "CLibJPEG CLibISAL", links: ["jpeg", "isal", "z"]),
    library("CLibJPEG", "libjpeg", apt: "libjpeg-dev"),
    library("CLibISAL", "libisal", apt: "libisal-dev"),
    library("CLibWebP", "libwebpdemux", apt: "libwebp-dev"),
    library("CLibGIF", "libgif", apt: "libgif-dev"),
    library("CLibLCMS", "lcms2", apt: "liblcms2-dev"),
  ]
}

// MARK: On Apple's platforms

if isApple {
  let needs = frameworks("UIKit AppKit Symbols Combine SwiftUI Network")
  let library = frameworks("Photos PhotosUI")
  libraries += " VitrineApple VitrinePhotos"
  targets += [
    room("VitrineApple", "Sources/Apple", "Vitrine VitrineRuntime VitrineImaging VitrineHTTP \(needs)"),
    room("VitrinePhotos", "Sources/Apple/Photos", "Vitrine VitrineRuntime \(needs) \(library)"),
    tests("AppleTests", "VitrineApple VitrinePhotos \(hasStubs ? "PhotosTable" : "") \(needs) \(library)"),
  ]
}

if hasStubs {
  // Modules with the names of Apple's frameworks; the README of their folder says what they are for. `_KitShared` is what
  // UIKit and AppKit have in common.
  let stubs: KeyValuePairs = [
    "CoreGraphics": "", "CoreText": "CoreGraphics", "ImageIO": "CoreGraphics", "URLLoading": "", "Network": "",
    "Combine": "", "Symbols": "", "SwiftUI": "CoreGraphics", "QuartzCore": "CoreGraphics",
    "_KitShared": "CoreGraphics QuartzCore Symbols", "UIKit": "_KitShared", "AppKit": "_KitShared",
    "Photos": "CoreGraphics ImageIO", "PhotosUI": "",
  ]
  let all = stubs.map(\.key).joined(separator: " ")
  targets.append(tests("AppleStubsTests", all, at: "Tests/AppleStubs/Tests", isGuest: true))
  // Tests of what differs between the variants; all else is tested by `make test`.
  let sources = [
    "HTTPTests": ["Loader", "URLSession"],
    "ImagingTests": [
      "Codecs", "Support", "Formats/Frames/AnimatedImageTests.swift", "Formats/Frames/FrameSourceTests.swift",
    ],
    "TextTests": ["TextTests.swift", "Stubs"], "VitrineTests": ["Platform", "PreviewTests.swift"],
  ]
  // The toolchain's Testing has overlays for some modules of Apple's, which Linux lacks.
  let withoutOverlays = [SwiftSetting.unsafeFlags(["-Xfrontend", "-disable-cross-import-overlays"])]
  for target in targets where target.isTest {
    target.sources = sources[target.name]
    target.dependencies += list("StubStart StubCodecs CoreGraphics ImageIO")
    target.swiftSettings? += withoutOverlays
  }
  // These stubs draw pixel by pixel.
  let fast = [SwiftSetting.unsafeFlags(["-O"])]
  targets += stubs.map {
    let (path, settings) = ("Tests/AppleStubs/Sources/\($0.key)", $0.key.hasPrefix("Core") ? fast : [])
    return .target(name: $0.key, dependencies: list($0.value), path: path, swiftSettings: settings)
  }
  let seesInternals = ["-Xfrontend", "-testable-import-module", "-Xfrontend", "VitrineImaging"]
  let stubCodecs = room("StubCodecs", "Tests/StubCodecs", "VitrineImaging CoreGraphics ImageIO \(systemCodecs)")
  stubCodecs.swiftSettings? += [.unsafeFlags(seesInternals)] + fast
  // StubStart hands the codecs to the stub of ImageIO at launch. PhotosTable is an app, which AppleTests launch.
  targets += [stubCodecs, .target(name: "StubStart", dependencies: ["StubCodecs"], path: "Tests/StubStart")]
  targets.append(program("PhotosTable", "Examples/PhotosTable/Sources", "VitrineApple UIKit"))
}

// MARK: On Linux

if !isApple {
  // Each external codec is a library of its own, so that a program builds only those that it names.
  let names = ["AVIF", "HEIF", "JXL", "SVG", "TIFF"]
  let codecs = names.map { "Vitrine\($0)" }.joined(separator: " ")
  let sandboxed = "VitrineRuntime VitrineImaging VitrineConfinement VitrineSandbox"
  libraries += " VitrineGTK VitrineSandbox VitrineRedis VitrineS3 VitrineServing \(codecs)"
  programs += ["vitrine-codecs", "vitrine-server"].map { ($0, $0) } + [("vitrine-gallery", "VitrineGallery")]
  for name in names {
    let needs = "VitrineRuntime VitrineImaging CVitrine\(name) CLib\(name)"
    targets += [room("Vitrine\(name)", "Sources/Codecs/\(name)", needs), shim("CVitrine\(name)", "CLib\(name)")]
  }
  targets += [
    shim("CVitrineCurl"),
    library("CLibAVIF", "libavif", apt: "libavif-dev"),
    library("CLibHEIF", "libheif", apt: "libheif-dev"),
    library("CLibJXL", "libjxl", apt: "libjxl-dev"),
    library("CLibSVG", "librsvg-2.0", apt: "librsvg2-dev", needsFlags: true),
    library("CLibTIFF", "libtiff-4", apt: "libtiff-dev"),

    // Lines of text for VitrineText.
    shim("CVitrineText", "CLibPango", links: ["pangocairo-1.0", "pango-1.0", "gobject-2.0", "cairo"]),
    library("CLibPango", "pangocairo", apt: "libpango1.0-dev", needsFlags: true),

    // Windows. The gallery without its windows is a room of its own, so that it is tested without GTK.
    room("VitrineGTK", "Sources/GTK", "Vitrine VitrineImaging VitrineTiles VitrineRuntime CVitrineGTK CGTK"),
    room("VitrineGalleryModel", "Sources/Gallery/Model", "VitrineRuntime VitrineImaging"),
    program("VitrineGallery", "Sources/Gallery", "\(core) VitrineSandbox VitrineGTK VitrineGalleryModel"),
    shim("CVitrineGTK", "CGTK"),
    library("CGTK", "gtk4", apt: "libgtk-4-dev", needsFlags: true),

    // Decoding in other processes: VitrineSandbox starts them and talks to them, VitrineConfinement takes from them, by
    // seccomp and Landlock, whatever else they could do, and vitrine-codecs is their program.
    room("VitrineSandbox", "Sources/Sandbox", "VitrineRuntime VitrineImaging CVitrineSandbox"),
    room("VitrineConfinement", "Sources/Confinement", "VitrineRuntime VitrineSandbox CVitrineConfinement CLibSeccomp"),
    program("vitrine-codecs", "Sources/CodecWorker", "\(sandboxed) \(codecs) CVitrineForgetting"),
    shim("CVitrineSandbox"), shim("CVitrineConfinement"), shim("CVitrineForgetting"),
    library("CLibSeccomp", "libseccomp", apt: "libseccomp-dev"),

    // Caches that machines share.
    room("VitrineRedis", "Sources/Tiers/Redis", "VitrineRuntime VitrineCaching VitrineTiers CLibHiredis"),
    room("VitrineS3", "Sources/Tiers/S3", "VitrineRuntime VitrineCaching VitrineHTTP VitrineTiers"),
    library("CLibHiredis", "hiredis", apt: "libhiredis-dev"),

    // The thumbnail server. Its parser of URLs and headers is a room of its own, since the tool signs URLs.
    room(
      "VitrineServingRequests",
      "Sources/Server/Requests",
      "VitrineRuntime VitrineImaging VitrineHTTP Vitrine CLibNettle",
    ),
    library("CLibNettle", "nettle", apt: "nettle-dev"),
    room(
      "VitrineServing",
      "Sources/Server",
      "\(core) VitrineTiles VitrineTiers VitrineSandbox VitrineS3 VitrineServingRequests CVitrineMHD",
    ),
    program("vitrine-server", "Sources/Server/Program", "\(core) VitrineTiers VitrineServing VitrineRedis"),
    shim("CVitrineMHD", "CLibMicroHTTPD", links: ["microhttpd"]),
    library("CLibMicroHTTPD", "libmicrohttpd", apt: "libmicrohttpd-dev"),

    // Programs of tests: a window for screen readers, a hijacked decoder, one of several pipelines that share a cache.
    program("accessible-window", "Tests/AccessibleWindow", "Vitrine VitrineRuntime VitrineGTK CGTK"),
    program("rogue", "Tests/Rogue", "\(sandboxed) CVitrineSandbox CVitrineForgetting"),
    program("fleet-member", "Tests/FleetMember", "\(core) VitrineTiers VitrineRedis"),
    // The benchmark of widgets stands here, and not in the package of Benchmarks, since it reads their `package` counters.
    program(
      "bench-gtk",
      "Benchmarks/Sources/bench-gtk",
      "\(core) VitrineSandbox VitrineTesting VitrineGTK CVitrineGTK CGTK",
    ),

    tests("RuntimeTests"), tests("CachingTests", "VitrineTiers"), tests("TestingTests"),
    tests("GalleryTests", "VitrineGalleryModel"),
    tests("CommandLineTests", "VitrineCommandLine vitrine-codecs"),
    tests("CodecTests", "VitrineTiles \(codecs)"),
    tests("SandboxTests", "VitrineTiles \(sandboxed) CVitrineSandbox vitrine-codecs rogue \(codecs)"),
    tests("ConfinementTests", "VitrineConfinement rogue"),
    tests("RedisTests", "VitrineTiers VitrineRedis fleet-member"),
    tests("S3Tests", "VitrineTiers VitrineS3"),
    tests("TilesTests", "VitrineTiles"), tests("TiersTests", "VitrineTiers"),
    tests("ServerTests", "VitrineTiers VitrineSandbox VitrineS3 VitrineServing vitrine-server vitrine-codecs"),
    tests("ServerRequestTests", "VitrineServingRequests", at: "Tests/ServerTests/Requests"),
    // By XCTest, since GTK needs the main thread, on which Swift Testing runs no test. The programs are named so that they
    // are built.
    tests("GTKTests", "VitrineGTK CVitrineGTK CGTK VitrineGallery accessible-window"),
    // A moment of fuzzing (`make check NAME=fuzzing` is longer), and tasks of apps. Both folders are packages, too.
    tests("FuzzTests", "VitrineSandbox \(codecs)", at: "Fuzz", isGuest: true),
    tests("Scenarios", at: "Examples/Scenarios/Tests", isGuest: true),
  ]
}

// MARK: Bridges to other packages

// Each is used with a trait of its own, off by default, and is not fetched without it: every use needs its condition, of one trait
// each. `VITRINE_STAND_INS=1` takes the stand-ins of Tests/StandIns in place of the URLs.
let bridged: KeyValuePairs<String, (url: String, from: Version)> = [
  "Logging": ("https://github.com/apple/swift-log", "1.6.0"),
  "Metrics": ("https://github.com/apple/swift-metrics", "2.5.0"),
  "Tracing": ("https://github.com/apple/swift-distributed-tracing", "1.2.0"),
  "HTTPTypes": ("https://github.com/apple/swift-http-types", "1.3.0"),
  "ServiceLifecycle": ("https://github.com/swift-server/swift-service-lifecycle", "2.6.0"),
]
let hasStandIns = Context.environment["VITRINE_STAND_INS"] == "1"
func identity(_ url: String) -> String { url.split(separator: "/").last.map(String.init) ?? url }
let bridges = room("VitrineBridges", "Sources/Bridges", "VitrineRuntime VitrineHTTP Vitrine")
bridges.dependencies += bridged.map {
  .product(name: $0.key, package: identity($0.value.url), condition: .when(traits: [$0.key]))
}
if !isApple {
  bridges.dependencies.append(.target(name: "VitrineServing", condition: .when(traits: ["ServiceLifecycle"])))
}
targets.append(bridges)
libraries += " VitrineBridges"

let package = Package(
  name: "Vitrine",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: libraries.split(separator: " ").map { .library(name: String($0), targets: [String($0)]) }
    + programs.map { .executable(name: $0, targets: [$1]) },
  traits: Set(bridged.map { .trait(name: $0.key, description: "VitrineBridges over \(identity($0.value.url))") }),
  dependencies: bridged.map {
    hasStandIns
      ? .package(path: "Tests/StandIns/\(identity($0.value.url))") : .package(url: $0.value.url, from: $0.value.from)
  },
  targets: targets,
  swiftLanguageModes: [.v6],
)
