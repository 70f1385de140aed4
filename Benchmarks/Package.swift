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
    .executableTarget(
      name: "bench-animation",
      dependencies: ["Contest", .product(name: "VitrineImaging", package: "Vitrine")],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "bench-processing",
      dependencies: [.product(name: "VitrineImaging", package: "Vitrine")],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    // C: the same work with libvips, whose functions take variable arguments. `Scripts/setup.sh bench/processing`
    // installs it.
    .executableTarget(name: "vips-processing", dependencies: ["CVips"]),
    .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"]), .brew(["vips"])]),
    .executableTarget(
      name: "bench-encoding",
      dependencies: [
        .product(name: "VitrineImaging", package: "Vitrine"),
        .product(name: "VitrineAVIF", package: "Vitrine"),
        .product(name: "VitrineJXL", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(name: "vips-encoding", dependencies: ["CVips"]),
    // Nothing but an import and a picture: what programs with Vitrine inside weigh, and how fast they start.
    .executableTarget(
      name: "start-imaging",
      dependencies: [.product(name: "VitrineImaging", package: "Vitrine")],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "start-codecs",
      dependencies: [
        .product(name: "VitrineImaging", package: "Vitrine"),
        .product(name: "VitrineAVIF", package: "Vitrine"),
        .product(name: "VitrineHEIF", package: "Vitrine"),
        .product(name: "VitrineJXL", package: "Vitrine"),
        .product(name: "VitrineTIFF", package: "Vitrine"),
        .product(name: "VitrineSVG", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    // The smallest program that loads an image, and one without Vitrine.
    .executableTarget(
      name: "start-hit",
      dependencies: [.product(name: "Vitrine", package: "Vitrine")],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(name: "start-bare", swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "bench-start",
      dependencies: [
        "Contest", .product(name: "VitrineHTTP", package: "Vitrine"),
        .product(name: "VitrineTesting", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "conformance",
      dependencies: [
        .product(name: "VitrineImaging", package: "Vitrine"),
        .product(name: "VitrineAVIF", package: "Vitrine"),
        .product(name: "VitrineHEIF", package: "Vitrine"),
        .product(name: "VitrineJXL", package: "Vitrine"),
        .product(name: "VitrineTIFF", package: "Vitrine"),
        .product(name: "VitrineSVG", package: "Vitrine"),
      ],
      // Read where it stands: the program runs in the project's own folder.
      exclude: ["explanations.txt"],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "bench-pipeline",
      dependencies: [
        "Contest",
        .product(name: "Vitrine", package: "Vitrine"),
        .product(name: "VitrineHTTP", package: "Vitrine"),
        .product(name: "VitrineTesting", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "bench-sandbox",
      dependencies: [
        "Contest",
        .product(name: "VitrineImaging", package: "Vitrine"),
        .product(name: "VitrineAVIF", package: "Vitrine"),
        .product(name: "VitrineSandbox", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "bench-s3",
      dependencies: [
        .product(name: "Vitrine", package: "Vitrine"),
        .product(name: "VitrineCaching", package: "Vitrine"),
        .product(name: "VitrineS3", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "bench-tiles",
      dependencies: [
        "Contest",
        .product(name: "Vitrine", package: "Vitrine"),
        .product(name: "VitrineTiles", package: "Vitrine"),
        .product(name: "VitrineAVIF", package: "Vitrine"),
        .product(name: "VitrineHEIF", package: "Vitrine"),
        .product(name: "VitrineTIFF", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "honest-users",
      dependencies: [
        .product(name: "Vitrine", package: "Vitrine"),
        .product(name: "VitrineHTTP", package: "Vitrine"),
        .product(name: "VitrineImaging", package: "Vitrine"),
        .product(name: "VitrineSVG", package: "Vitrine"),
        .product(name: "VitrineTIFF", package: "Vitrine"),
        .product(name: "VitrineTesting", package: "Vitrine"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "bench-http",
      dependencies: [.product(name: "VitrineHTTP", package: "Vitrine")],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "bench-cache-disk",
      dependencies: ["CSQLite", "CLMDB", .product(name: "VitrineCaching", package: "Vitrine")],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    // Libraries of the system, to be compared with. `Scripts/setup.sh bench/cache` installs them.
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .executableTarget(
      name: "bench-cache-memory",
      dependencies: ["Contest", .product(name: "VitrineCaching", package: "Vitrine")],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    .executableTarget(
      name: "bench-policy",
      dependencies: ["Contest", .product(name: "VitrineCaching", package: "Vitrine")],
      swiftSettings: [.treatAllWarnings(as: .error)],
    ),
    // Lets several that do the same work take turns, and counts what they allocate.
    .target(name: "Contest", dependencies: ["CAllocations"], swiftSettings: [.treatAllWarnings(as: .error)]),
    // C: counts allocations by defining malloc.
    .target(name: "CAllocations"),
  ],
  swiftLanguageModes: [.v6],
)
