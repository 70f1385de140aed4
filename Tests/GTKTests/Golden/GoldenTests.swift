import Foundation
import Vitrine
import VitrineTesting
import XCTest

@testable import VitrineGTK

/// Pictures as the screen shows them, beside those that a person has looked at.
///
/// `make check NAME=golden` writes them as PNG. Only their hashes are kept, in a file for each scale of the display.
final class GoldenTests: WidgetTestCase {
  func testPicturesLookAsTheyDidWhenAPersonLookedAtThem() throws {
    try MainActor.assumeIsolated {
      let stage = GoldenStage()
      let output = try GoldenOutput()
      let goldens = try Self.goldens(stage)
      var missing: Set<String> = []
      for scene in GoldenScenes.all {
        missing.formUnion(scene.icons.filter { !stage.hasIcon($0) })
        guard scene.icons.allSatisfy(stage.hasIcon) else { continue }
        let drawn = try stage.draw(scene)
        let hash = GoldenHash(drawn)
        try output?.add(drawn, hash, scene.name)
        if let golden = goldens[scene.name] {
          XCTAssertTrue(
            hash.resembles(golden),
            "\(scene.name) looks different (\(hash.differences(from: golden))); make check NAME=golden shows it",
          )
        } else {
          XCTFail("\(scene.name) has no golden hash; make check NAME=golden writes one")
        }
      }
      try output?.finish()
      if !missing.isEmpty { throw XCTSkip("the icon theme lacks \(missing.sorted().joined(separator: ", "))") }
    }
  }

  func testEveryTwoScenesAreToldApart() throws {
    try MainActor.assumeIsolated {
      let goldens = try Self.goldens(GoldenStage()).sorted { $0.key < $1.key }
      XCTAssertEqual(goldens.map(\.key), GoldenScenes.all.map(\.name).sorted())
      for (index, one) in goldens.enumerated() {
        for other in goldens[(index + 1)...] {
          XCTAssertFalse(one.value.resembles(other.value), "\(one.key) and \(other.key)")
        }
      }
    }
  }

  func testAChangedPictureIsToldApart() throws {
    try MainActor.assumeIsolated {
      let stage = GoldenStage()
      let changes: [(String, String, (RemotePicture) -> Void)] = [
        ("another mode", "fit", { $0.mode = .exact }),
        ("another place", "fit", { $0.alignment = .topLeft }),
        ("corners that are a little rounder", "rounded", { $0.shape = .rounded(radius: 40) }),
        ("no corners", "rounded", { $0.shape = .rectangle }),
        ("no button", "failure-retry", { $0.showsRetry = false }),
        ("a colour that is a little lighter", "placeholder-colour", { Self.show(.color(.init(0x4A7EB5)), in: $0) }),
        ("another symbol", "placeholder-symbol", { Self.show(.symbol("image-missing-symbolic"), in: $0) }),
      ]
      for (change, name, apply) in changes {
        let scene = try XCTUnwrap(GoldenScenes.all.first { $0.name == name })
        guard scene.icons.allSatisfy(stage.hasIcon) else { continue }
        let golden = GoldenHash(try stage.draw(scene))
        XCTAssertTrue(golden.resembles(GoldenHash(try stage.draw(scene))), "\(name) is not drawn twice alike")
        let changed = GoldenHash(try stage.draw(scene, change: apply))
        XCTAssertFalse(changed.resembles(golden), "\(change) goes unnoticed")
      }
    }
  }

  func testAHashIsReadAsItWasWritten() throws {
    let hash = GoldenHash(
      Bitmap.pixels(width: 50, height: 40, alpha: .opaque) { x, y in
        SIMD4(UInt8(x * 5), UInt8(y * 6), UInt8((x + y) * 2), 255)
      }
    )
    XCTAssertEqual(GoldenHash(hash.text), hash)
    XCTAssertNil(GoldenHash("00 112233"))
    XCTAssertNil(GoldenHash(hash.text.dropLast()))
  }

  @MainActor
  private static func show(_ placeholder: Placeholder, in picture: RemotePicture) {
    picture.clear()
    picture.load(GoldenScenes.endless, placeholder: placeholder)
  }

  // MARK: Files

  /// Reads the hashes for the display's scale; throws a skip if there are none for it.
  @MainActor
  private static func goldens(_ stage: GoldenStage) throws -> [String: GoldenHash] {
    let scale = GoldenOutput.scale
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "scale-\(scale).txt")
    guard let text = try? String(contentsOf: file, encoding: .utf8) else {
      if GoldenOutput.folder != nil { return [:] }
      throw XCTSkip("there are no golden hashes for a scale of \(scale)")
    }
    // Those that are written now may replace others of an older kind.
    if GoldenOutput.folder != nil, text.split(separator: "\n").contains(where: { $0.split(separator: " ").count != 7 })
    {
      return [:]
    }
    let pairs = try text.split(separator: "\n").map { line in
      let parts = line.split(separator: " ", maxSplits: 1)
      return try (String(parts[0]), XCTUnwrap(parts.count == 2 ? GoldenHash(parts[1]) : nil, "\(line)"))
    }
    return Dictionary(pairs) { $1 }
  }
}

/// The pictures of a run, for a person: one PNG each, all on one sheet, and their hashes.
@MainActor
final class GoldenOutput {
  private let scale = GoldenOutput.scale
  private let folder: URL
  private var pictures: [Bitmap] = []
  private var hashes = ""

  /// The number of device pixels in a point.
  static var scale: Int { Int(Environment.scale) }
  /// The folder that `VITRINE_GOLDEN_OUTPUT` names.
  static var folder: URL? { ProcessInfo.processInfo.environment["VITRINE_GOLDEN_OUTPUT"].map { URL(filePath: $0) } }

  private enum Environment {
    static let scale = ProcessInfo.processInfo.environment["GDK_SCALE"].flatMap(Int.init) ?? 1
  }

  /// Returns `nil` if no folder is named.
  init?() throws {
    guard let folder = Self.folder?.appending(path: "scale-\(scale)") else { return nil }
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func add(_ picture: Bitmap, _ hash: GoldenHash, _ name: String) throws {
    try picture.encoded(as: .png).write(to: folder.appending(path: "\(name).png"))
    pictures.append(picture)
    hashes += "\(name) \(hash.text)\n"
  }

  /// Writes the sheet and the hashes.
  func finish() throws {
    try hashes.write(to: folder.appending(path: "../scale-\(scale).txt"), atomically: true, encoding: .utf8)
    let (columns, gap) = (7, 4)
    let width = (pictures.map(\.width).max() ?? 0) + gap
    let height = (pictures.map(\.height).max() ?? 0) + gap
    let rows = (pictures.count + columns - 1) / columns
    let sheet = Bitmap.pixels(width: width * columns, height: height * rows, alpha: .opaque) { x, y in
      let index = y / height * columns + x / width
      guard pictures.indices.contains(index), x % width < pictures[index].width, y % height < pictures[index].height
      else { return SIMD4(255, 0, 255, 255) }
      return pictures[index][x % width, y % height]
    }
    try sheet.encoded(as: .png).write(to: folder.appending(path: "../sheet-\(scale).png"))
  }
}
