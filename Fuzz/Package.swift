// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "VitrineFuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Vitrine", path: "..")],
  targets: [
    // One program for all targets. Scripts/check/fuzzing.sh links libFuzzer's driver into it.
    .executableTarget(
      name: "vitrine-fuzz",
      dependencies: [
        "CFuzzer",
        .product(name: "VitrineImaging", package: "Vitrine"),
        .product(name: "VitrineHTTP", package: "Vitrine"),
        .product(name: "VitrineCaching", package: "Vitrine"),
        .product(name: "VitrineTesting", package: "Vitrine"),
        .product(name: "VitrineAVIF", package: "Vitrine"),
        .product(name: "VitrineHEIF", package: "Vitrine"),
        .product(name: "VitrineJXL", package: "Vitrine"),
        .product(name: "VitrineTIFF", package: "Vitrine"),
        .product(name: "VitrineSVG", package: "Vitrine"),
        .product(name: "VitrineSandbox", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    // C: the declaration of libFuzzer's driver.
    .target(name: "CFuzzer"),
    .executableTarget(
      name: "hostile-images",
      dependencies: [.product(name: "VitrineTesting", package: "Vitrine")],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "sandbox-faults",
      dependencies: [
        .product(name: "VitrineImaging", package: "Vitrine"),
        .product(name: "VitrineSandbox", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    // Code of a program's own that lies to Vitrine.
    .executableTarget(
      name: "lying-extensions",
      dependencies: [
        .product(name: "Vitrine", package: "Vitrine"),
        .product(name: "VitrineTiles", package: "Vitrine"),
        .product(name: "VitrineTiers", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(name: "mutate", swiftSettings: [.treatAllWarnings(as: .error)]),
  ],
  swiftLanguageModes: [.v6],
)
