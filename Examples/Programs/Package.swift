// swift-tools-version: 6.2
import PackageDescription

// Small programs, a file each: `swift run downloader FOLDER URL...`.
func program(_ name: String, _ products: String..., library: String? = nil) -> Target {
  .executableTarget(
    name: name,
    dependencies: products.map { .product(name: $0, package: "Vitrine") } + (library.map { [.target(name: $0)] } ?? []),
    path: ".",
    sources: ["\(name).swift"],
    swiftSettings: [.treatAllWarnings(as: .error)],
  )
}

let package = Package(
  name: "Programs",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Vitrine", path: "../..")],
  targets: [
    program("downloader", "Vitrine", "VitrineImaging"), program("avatar-service", "VitrineServing"),
    program("loader-actor", "Vitrine"),
    program("processor", "VitrineImaging"), program("decoder", "VitrineImaging"),
    program("loader-and-cache", "Vitrine", "VitrineCaching", "VitrineHTTP"), program("animation", "VitrineImaging"),
    program("sqlite-cache", "Vitrine", "VitrineCaching", library: "CSQLite"),
    .systemLibrary(name: "CSQLite", path: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    program("batch", "VitrineImaging"), program("grid", "VitrineGTK"),
    program("uploads", "Vitrine", "VitrineSandbox", "vitrine-codecs"), program("metrics", "Vitrine"),
  ],
  swiftLanguageModes: [.v6],
)
