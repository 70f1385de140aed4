// swift-tools-version: 6.2
import PackageDescription

// Tests of Sources/Bridges as a package that depends on Vitrine, with all of its traits, over the stand-ins of Tests/StandIns:
// `make check NAME=bridges`, which sets VITRINE_STAND_INS.
let standIns: KeyValuePairs = [
  "Logging": "swift-log", "Metrics": "swift-metrics", "Tracing": "swift-distributed-tracing",
  "HTTPTypes": "swift-http-types",
  "ServiceLifecycle": "swift-service-lifecycle",
]
let traits = Set(standIns.map { Package.Dependency.Trait.trait(name: $0.key) })

let package = Package(
  name: "BridgesTests",
  dependencies: [.package(name: "Vitrine", path: "../..", traits: traits)]
    + standIns.map { .package(path: "../StandIns/\($0.value)") },
  targets: [
    .testTarget(
      name: "BridgesTests",
      dependencies: [
        .product(name: "VitrineBridges", package: "Vitrine"), .product(name: "VitrineTesting", package: "Vitrine"),
        .product(name: "VitrineServing", package: "Vitrine"),
      ] + standIns.map { .product(name: $0.key, package: $0.value) },
      path: "Tests",
      swiftSettings: [.treatAllWarnings(as: .error)],
    )
  ],
  swiftLanguageModes: [.v6],
)
