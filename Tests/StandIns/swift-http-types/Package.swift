// swift-tools-version: 6.2
import PackageDescription

// A stand-in with what Sources/Bridges uses of swift-http-types; the README there says why.
let package = Package(
  name: "swift-http-types",
  products: [.library(name: "HTTPTypes", targets: ["HTTPTypes"])],
  targets: [.target(name: "HTTPTypes")],
)
