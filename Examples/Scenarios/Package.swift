// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that it sees of Vitrine what other packages see.
let package = Package(
  name: "VitrineScenarios",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Vitrine", path: "../..")],
  targets: [
    .testTarget(
      name: "Scenarios",
      dependencies: [
        .product(name: "Vitrine", package: "Vitrine"),
        .product(name: "VitrineCaching", package: "Vitrine"),
        .product(name: "VitrineTesting", package: "Vitrine"),
      ],
      path: "Tests",
      swiftSettings: [.treatAllWarnings(as: .error)],
    )
  ],
  swiftLanguageModes: [.v6],
)
