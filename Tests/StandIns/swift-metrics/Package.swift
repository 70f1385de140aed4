// swift-tools-version: 6.2
import PackageDescription

// A stand-in with what Sources/Bridges uses of swift-metrics; the README there says why.
let package = Package(
  name: "swift-metrics",
  products: [.library(name: "Metrics", targets: ["Metrics"])],
  targets: [.target(name: "Metrics")],
)
