// swift-tools-version: 6.2
import PackageDescription

// A stand-in with what Sources/Bridges uses of swift-log; the README there says why.
let package = Package(
  name: "swift-log",
  products: [.library(name: "Logging", targets: ["Logging"])],
  targets: [.target(name: "Logging")],
)
