// swift-tools-version: 6.2
import PackageDescription

// Modules with the names of Apple's frameworks, declared after Apple's documentation. README.md says what they are for.
let stubs: [(name: String, dependencies: [String])] = [
  ("CoreGraphics", []),
  ("ImageIO", ["CoreGraphics"]),
  ("URLLoading", []),
  ("Network", []),
  ("Combine", []),
  ("SwiftUI", ["Combine", "CoreGraphics"]),
  ("QuartzCore", ["CoreGraphics"]),
  ("Symbols", []),
  // What UIKit and AppKit have in common.
  ("_KitShared", ["CoreGraphics", "QuartzCore", "Symbols"]),
  ("UIKit", ["_KitShared"]),
  ("AppKit", ["_KitShared"]),
]

// The toolchain's Testing has overlays for some modules of Apple's, which Linux lacks.
let testSettings: [SwiftSetting] = [.unsafeFlags(["-Xfrontend", "-disable-cross-import-overlays"])]

let tests: [(name: String, dependencies: [String])] = [
  ("CombineTests", ["Combine"]),
  ("SwiftUITests", ["SwiftUI"]),
  ("QuartzCoreTests", ["QuartzCore"]),
  ("SymbolsTests", ["Symbols"]),
  ("UIKitTests", ["UIKit"]),
  ("AppKitTests", ["AppKit"]),
  ("URLLoadingTests", ["UmbrellaForTests"]),
  ("NetworkTests", ["Network"]),
]

let package = Package(
  name: "AppleStubs",
  products: stubs.map { .library(name: $0.name, targets: [$0.name]) },
  targets: stubs.map { stub in
    .target(
      name: stub.name,
      dependencies: stub.dependencies.map { .target(name: $0) },
      // Pixels, one by one.
      swiftSettings: stub.name == "CoreGraphics" ? [.unsafeFlags(["-O"])] : [],
    )
  } + [
    // Exports Foundation and URLLoading, as Vitrine's core does.
    .target(name: "UmbrellaForTests", dependencies: ["URLLoading"], path: "Tests/UmbrellaForTests")
  ]
    + tests.map { test in
      .testTarget(
        name: test.name,
        dependencies: test.dependencies.map { .target(name: $0) },
        swiftSettings: testSettings,
      )
    },
  swiftLanguageModes: [.v6],
)
