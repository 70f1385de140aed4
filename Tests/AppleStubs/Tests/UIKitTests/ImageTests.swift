import Testing
import UIKit

@Suite("Pictures")
struct ImageTests {
  @Test("The size is in points, and turned with the orientation")
  func size() {
    let pixels = picture(40, 20)
    #expect(UIImage(cgImage: pixels).size == CGSize(width: 40, height: 20))
    for orientation in [UIImage.Orientation.left, .right, .leftMirrored, .rightMirrored] {
      let image = UIImage(cgImage: pixels, scale: 2, orientation: orientation)
      #expect(image.size == CGSize(width: 10, height: 20))
    }
    for orientation in [UIImage.Orientation.up, .down, .upMirrored, .downMirrored] {
      #expect(UIImage(cgImage: pixels, scale: 2, orientation: orientation).size == CGSize(width: 20, height: 10))
    }
  }

  @Test("The catalogue has what was registered")
  func assets() {
    UIImage._register(UIImage(cgImage: picture(6, 4), scale: 2, orientation: .up), named: "cat")
    #expect(UIImage(named: "cat")?.size == CGSize(width: 3, height: 2))
    #expect(UIImage(named: "cat", in: nil, compatibleWith: nil)?._facts.assetName == "cat")
    #expect(UIImage(named: "no such cat") == nil)
  }

  @Test("Data goes through the decoder")
  func data() {
    UIImage._decoder = { $0.isEmpty ? nil : picture($0.count, 1) }
    #expect(UIImage(data: Data([1, 2, 3]))?.size.width == 3)
    #expect(UIImage(data: Data()) == nil)
    UIImage._decoder = nil
    #expect(UIImage(data: Data([1])) == nil)
  }

  @Test("A prepared picture is another one with the same pixels")
  func preparation() async {
    let image = UIImage(cgImage: picture(8, 8))
    #expect(!image._isPrepared)
    #expect(image.preparingForDisplay()?._isPrepared == true)
    #expect(image.preparingForDisplay()?.cgImage === image.cgImage)
    #expect(await image.byPreparingForDisplay()?._isPrepared == true)
    let size = CGSize(width: 2, height: 2)
    #expect(await image.byPreparingThumbnail(ofSize: size)?.size == size)
    let handed = await withCheckedContinuation { continuation in
      image.prepareForDisplay { continuation.resume(returning: $0) }
    }
    #expect(handed?._isPrepared == true)
    #expect(UIImage(systemName: "star")?.preparingForDisplay() == nil)
  }

  @Test("A picture can be restricted to white")
  func dynamicRange() {
    let image = UIImage(cgImage: picture(1, 1))._markedHighDynamicRange()
    #expect(image.isHighDynamicRange)
    #expect(!image.imageRestrictedToStandardDynamicRange().isHighDynamicRange)
  }

  @Test("A symbol has settings, a plain picture has none")
  func symbols() {
    let bold = UIImage.SymbolConfiguration(pointSize: 20, weight: .bold)
    let star = UIImage(systemName: "star", withConfiguration: bold)
    #expect(star?.isSymbolImage == true)
    #expect(star?.size.width == 20)
    #expect(star?.symbolConfiguration == bold)
    let large = star?.applyingSymbolConfiguration(UIImage.SymbolConfiguration(scale: .large))
    #expect(large?.symbolConfiguration?._values.scale == .large)
    #expect(large?.symbolConfiguration?._values.weight == .bold)
    #expect(UIImage(cgImage: picture(1, 1)).applyingSymbolConfiguration(bold) == nil)
    #expect(UIImage(systemName: "wifi", variableValue: 0.5)?._facts.variableValue == 0.5)
    #expect(UIImage(systemName: "") == nil)
  }

  @Test("Settings combine, and the later ones win")
  func settings() {
    let red = UIImage.SymbolConfiguration(hierarchicalColor: .systemRed)
    let size = UIImage.SymbolConfiguration(pointSize: 12)
    let both = size.applying(red)
    #expect(both._values.pointSize == 12)
    #expect(both._values.hierarchicalColor == .systemRed)
    #expect(both == red.applying(size))
    #expect(both.hash == red.applying(size).hash)
    let palette = both.applying(UIImage.SymbolConfiguration(paletteColors: [.red, .blue]))
    #expect(palette._values.hierarchicalColor == nil)
    #expect(palette._values.paletteColors?.count == 2)
    #expect(UIImage.SymbolConfiguration.preferringMulticolor()._values.prefersMulticolor)
    #expect(size.applying(nil) == size)
    #expect(UIImage.SymbolConfiguration(textStyle: .headline) != UIImage.SymbolConfiguration(textStyle: .body))
  }

  @Test("Pictures and settings cross to other tasks")
  func sendable() async {
    let image = UIImage(cgImage: picture(3, 3))
    let tint = UIColor.systemBlue
    let width = await Task.detached { image.withTintColor(tint, renderingMode: .alwaysTemplate).size.width }.value
    #expect(width == 3)
  }
}
