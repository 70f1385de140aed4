// swift-tools-version: 6.2
import PackageDescription

// A stand-in with what Sources/Bridges uses of swift-distributed-tracing; the README there says why.
let package = Package(
  name: "swift-distributed-tracing",
  products: [.library(name: "Tracing", targets: ["Tracing"])],
  targets: [.target(name: "Tracing")],
)
