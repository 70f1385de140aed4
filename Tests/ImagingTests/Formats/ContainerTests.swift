import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

/// The one value that travels from the decoder to the view.
@Suite
struct ContainerTests {
  @Test
  func aContainerOfABitmapHasTheFactsOfABitmap() {
    let image = ImageContainer(Self.bitmap(3, 2))
    #expect(image.info == ImageInfo(format: .bitmap, storedWidth: 3, storedHeight: 2))
    #expect(image.damage == nil)
    #expect(image.metadata == nil)
    #expect(image.encodedData == nil)
    #expect(!image.isPreview)
    #expect(image.userInfo.isEmpty)
  }

  @Test
  func aCopyKeepsWhatTheOtherOneChanges() {
    let first = ImageContainer(Self.bitmap(3, 2))
    var second = first
    second.bitmap = Self.bitmap(5, 5)
    second.userInfo["name"] = "second"
    second.isPreview = true
    #expect(first.bitmap.width == 3)
    #expect(first.userInfo.isEmpty)
    #expect(!first.isPreview)
    #expect(second.bitmap.width == 5)
    #expect(second.userInfo["name"] as? String == "second")
    #expect(second.isPreview)
  }

  @Test
  func aContainerIsOneReferenceWide() {
    #expect(MemoryLayout<ImageContainer>.size == MemoryLayout<AnyObject>.size)
    #expect(MemoryLayout<ImageContainer?>.size == MemoryLayout<AnyObject>.size)
  }

  @Test
  func aProcessorOfPixelsKeepsEverythingElse() throws {
    let image = ImageContainer(
      Self.bitmap(4, 4),
      info: ImageInfo(format: .jpeg, storedWidth: 40, storedHeight: 40),
      damage: ImageError(.truncated, "cut"),
      metadata: ImageMetadata(),
      encodedData: Data([1, 2, 3]),
      isPreview: true,
      userInfo: ["key": 1],
    )
    let smaller = try ImageProcessor.custom(id: "corner") { try $0.cropped(x: 0, y: 0, width: 2, height: 2) }
      .process(image)
    #expect(smaller.bitmap.width == 2)
    #expect(smaller.info.format == .jpeg)
    #expect(smaller.info.storedWidth == 40)
    #expect(smaller.damage?.code == .truncated)
    #expect(smaller.metadata == ImageMetadata())
    #expect(smaller.encodedData == Data([1, 2, 3]))
    #expect(smaller.isPreview)
    #expect(smaller.userInfo["key"] as? Int == 1)
  }

  @Test
  func aProcessorOfContainersMayChangeAllOfThem() throws {
    let processor = ImageProcessor.customContainer(id: "note") { image in
      var image = image
      image.userInfo["format"] = image.info.format.name
      return image
    }
    #expect(try processor.process(ImageContainer(Self.bitmap(1, 1))).userInfo["format"] as? String == "bitmap")
  }

  @Test
  func aProcessorOfContainersIsNoneOfPixelsWithItsName() {
    #expect(ImageProcessor.custom(id: "same") { $0 } != .customContainer(id: "same") { $0 })
  }

  @Test
  func previewsAreProcessedUnlessTheProcessorLeavesThemOut() {
    #expect(ImageProcessor.resize(.pixels(1, 1)).processesPreviews)
    #expect(ImageProcessor.crop(width: 1, height: 1).processesPreviews)
    #expect(ImageProcessor.custom(id: "any") { $0 }.processesPreviews)
    #expect(ImageProcessor.customContainer(id: "any") { $0 }.processesPreviews)
    #expect(!ImageProcessor.custom(id: "costly", processesPreviews: false) { $0 }.processesPreviews)
    #expect(!ImageProcessor.customContainer(id: "costly", processesPreviews: false) { $0 }.processesPreviews)
  }

  @Test
  func aRegistryTellsDecodersOfVitrinesFromOthers() {
    var registry = DecoderRegistry([JPEGDecoder(), PNGDecoder()])
    #expect(!registry.hasForeignDecoders)
    #expect(!DecoderRegistry.standard.hasForeignDecoders)
    registry.add(QOIDecoder())
    #expect(!registry.hasForeignDecoders)
    registry.add(StubDecoder())
    #expect(registry.hasForeignDecoders)
    registry.add(GIFDecoder())
    #expect(registry.hasForeignDecoders)
    #expect(DecoderRegistry([StubDecoder()]).hasForeignDecoders)
  }

  private static func bitmap(_ width: Int, _ height: Int) -> Bitmap {
    unsafe Bitmap(width: width, height: height, alpha: .opaque) { pixels in
      // All of the memory that the bitmap gives.
      for index in pixels.indices { unsafe pixels[index] = 255 }
    }
  }
}
