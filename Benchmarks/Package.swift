// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "VitrineBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Vitrine", path: "..")],
  targets: [
    .executableTarget(name: "measure"),
    .executableTarget(
      name: "bench-imaging",
      dependencies: [
        .product(name: "VitrineImaging", package: "Vitrine"),
        .product(name: "VitrineTesting", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
  ],
  swiftLanguageModes: [.v6],
)
