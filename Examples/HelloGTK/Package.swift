// swift-tools-version: 6.2
import PackageDescription

// A program with GTK, as one outside this repository is.
let package = Package(
  name: "HelloGTK",
  dependencies: [.package(name: "Vitrine", path: "../..")],
  targets: [
    .executableTarget(
      name: "hello-gtk",
      dependencies: [
        .product(name: "VitrineGTK", package: "Vitrine"),
        .product(name: "VitrineSandbox", package: "Vitrine"),
        // The program that decodes, which is built beside this one.
        .product(name: "vitrine-codecs", package: "Vitrine"),
      ],
      path: "Sources",
      swiftSettings: [.treatAllWarnings(as: .error)],
    )
  ],
  swiftLanguageModes: [.v6],
)
