// swift-tools-version: 6.2
import PackageDescription

// A stand-in with what Sources/Bridges uses of swift-service-lifecycle; the README there says why.
let package = Package(
  name: "swift-service-lifecycle",
  products: [.library(name: "ServiceLifecycle", targets: ["ServiceLifecycle"])],
  targets: [.target(name: "ServiceLifecycle")],
)
