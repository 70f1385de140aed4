import Testing
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// The table of operations, and what each row promises.
struct OperationTests {
  private static let picture = Bitmap.testPattern(width: 60, height: 30)
  private static let limits: DecodeLimits = {
    var limits = DecodeLimits()
    limits.side = 400
    return limits
  }()

  /// Makes a picture as a pipeline does: decodes at the size, then processes.
  private func result(_ operations: ImageOperations, of bitmap: Bitmap = picture) throws -> Bitmap {
    let plan = try operations.plan(pictures: ["": .mark, "logo.png": .mark])
    let context = ProcessingContext(limits: Self.limits)
    var image = ImageContainer(bitmap)
    if let size = plan.size { image = image.replacing(try bitmap.resized(to: size, limits: Self.limits)) }
    for processor in plan.processors { image = try processor.process(image, context) }
    return image.bitmap
  }

  // MARK: - Rows

  @Test
  func namesAreTheirRowsOwn() {
    let names = ImageOperation.table.flatMap(\.syntax.names)
    #expect(Set(names).count == names.count)
    #expect(ImageOperation.table.allSatisfy { ImageOperation.named($0.syntax.shortName)?.id == $0.id })
  }

  @Test
  func aStepIsARowAndARowWithProcessorsIsAStep() throws {
    let order = ImageOperation.order
    #expect(Set(order).count == order.count)
    #expect(order.allSatisfy { ImageOperation.named($0) != nil })
    for row in ImageOperation.table where row.parts.isEmpty {
      var operations = ImageOperations("w:40", "h:40")
      let usual = try operations.plan()
      try apply(row, row.syntax.example, to: &operations)
      let changes = try operations.plan(pictures: ["": .mark]).processors.count > usual.processors.count
      // Settings change the box, and no more.
      #expect(order.contains(row.id) == changes || ["min-width", "min-height"].contains(row.id), "\(row.id)")
    }
  }

  @Test
  func theExampleOfEveryRowChangesAPicture() throws {
    // Partly transparent, with a white frame.
    let picture = try ImageProcessor.padding(top: 3, right: 3, bottom: 3, left: 3, color: .white)
      .process(ProcessorTests.soft)
    let boxes = [["w:40", "h:20"], ["w:40", "h:20", "rt:fill"], ["w:90", "h:90"]]
    // The picture is stored upright and small, and the part that shows the most may be that in the middle.
    let unseen = ["auto_rotate", "gravity", "max_result_dimension"]
    for row in ImageOperation.table where !unseen.contains(row.id) {
      let isChanged = try boxes.contains { box in
        var operations = ImageOperations(box)
        let usual = try result(operations, of: picture)
        try apply(row, row.syntax.example, to: &operations)
        let changed = try result(operations, of: picture)
        return usual.size != changed.size || usual.pixels != changed.pixels
      }
      #expect(isChanged, "\(row.id)")
    }
  }

  @Test
  func theExampleOfEveryRowIsUnderstoodAtAShell() throws {
    for row in ImageOperation.table {
      let operations = try ImageOperations(row.syntax.example(at: .shell))
      #expect(operations != ImageOperations(), "\(row.id)")
    }
  }

  @Test
  func everyRowKnowsTheSizeAfterIt() throws {
    var numbers = SplitMix64(seed: 11)
    for row in ImageOperation.table where ImageOperation.order.contains(row.id) && row.parts.isEmpty {
      for turn in 0..<60 {
        var operations = ImageOperations("w:40", "h:40")
        // Random lengths are mostly beyond the limits.
        let texts = turn == 0 && row.id == "padding" ? ["3", "5", "7"] : row.randomTexts(using: &numbers)
        guard (try? operations.apply(row.id, texts, at: .url)) != nil else { continue }
        let expected = expectedSize(operations)
        guard max(expected.width, expected.height) <= 400 else { continue }
        let made = try result(operations)
        let isExact = [made.width, made.height].map(Double.init) == [expected.width, expected.height]
        // The pixels decide how much is trimmed, and the rest is fitted into the box.
        #expect(isExact || row.id == "trim" && max(made.width, made.height) <= 40, "\(operations.texts)")
      }
    }
  }

  private func expectedSize(_ operations: ImageOperations) -> ImageOperation.Sides {
    var context = operations.context([:])
    let original = ImageOperation.Sides(width: Double(Self.picture.width), height: Double(Self.picture.height))
    let earlier = operations.size(original, after: ImageOperation.beforeResize, context)
    let result = context.box.rules.fitted(earlier.width, earlier.height)
    context.box = context.box.fitted(earlier)
    let sides = ImageOperation.Sides(width: result.cropWidth, height: result.cropHeight)
    return operations.size(sides, after: ImageOperation.afterResize, context)
  }

  // MARK: - Texts

  @Test
  func theOrderOfNamesMakesNoDifference() throws {
    let one = try ImageOperations("resize:fill:40:20|gravity:smart|blur:2|crop:30:30:se|padding:3|background:fff")
    let other = try ImageOperations("bg:ffffff|pd:3:3|c:30:30:soea|bl:2.0|g:sm|w:1|rt:fill|h:20|w:40")
    #expect(one == other)
    #expect(try one.plan() == other.plan())
    #expect(one.texts == ["rt:fill", "w:40", "h:20", "g:sm", "c:30:30:soea", "pd:3:3:3:3", "bg:FFFFFF", "bl:2"])
  }

  @Test
  func aWatermarkHasThePictureOfItsName() throws {
    let operations = try ImageOperations("watermark:logo.png:se:2:3")
    #expect(operations.pictureNames == ["logo.png"])
    #expect(
      try operations.plan(pictures: ["logo.png": .mark]).processors
        == [.watermark(.mark, WatermarkLayout(.once(.bottomRight), x: 2, y: 3), opacity: 1)]
    )
    let error = #expect(throws: ImageOperationError.self) { try operations.plan() }
    #expect(error?.description == "'watermark' needs a picture, but there is no 'logo.png'")
  }

  @Test(arguments: [
    ("blurr:4", "'blurr' is no operation"),
    ("", "'' is no operation"),
    ("blur:4|", "'' is no operation"),
    ("blur", "'blur' needs values: deviation: 0 to 1000 px (0)"),
    ("blur:", "'blur' needs values: deviation: 0 to 1000 px (0)"),
    ("blur:-1", "'blur' takes as deviation a number from 0 to 1000 with at most six decimal places, not '-1'"),
    ("blur:nan", "'blur' takes as deviation a number from 0 to 1000 with at most six decimal places, not 'nan'"),
    ("blur:1e3", "'blur' takes as deviation a number from 0 to 1000 with at most six decimal places, not '1e3'"),
    ("blur:1:2", "'blur' takes at most 1 values"),
    ("crop:10:70000", "'crop' takes as height a number from 0 to 65535 with at most six decimal places, not '70000'"),
    ("crop:10:10:sm:1", "'crop' takes as gravity sm alone, not 'sm:1'"),
    (
      "padding:1:2:3:99999999999999999999",
      "'padding' takes as left a number from 0 to 65535, not '99999999999999999999'",
    ),
    ("resize:cover", "'resize' takes as type one of fit, fill, fill-down, force, auto, not 'cover'"),
    ("rotate:45", "'rotate' takes as angle a multiple of 90 from -3600 to 3600, not '45'"),
    ("background:1:2:300", "'background' takes as color a number from 0 to 255, not '300'"),
    ("background:ff8000:1", "'background' takes no further value '1'"),
    (
      "watermark:a:middle",
      "'watermark' takes as place one of ce, no, so, ea, we, noea, nowe, soea, sowe, re, ch, not 'middle'",
    ),
    ("watermark:a:re:3:-2.5", "'watermark' takes no negative distance between pictures, not '-2.5'"),
    ("extend:1:sm", "'extend' takes as gravity one of ce, no, so, ea, we, noea, nowe, soea, sowe, fp:x:y, not 'sm'"),
    ("extend:1:fp:2:0", "'extend' takes as gravity a number from 0 to 1, not '2'"),
  ])
  func anErrorNamesTheOperationTheRangeAndTheValue(text: String, message: String) {
    let error = #expect(throws: ImageOperationError.self) { try ImageOperations(text) }
    #expect(error?.description == message)
  }

  @Test(arguments: ["w:40/bl:2", "w:40/bl:2/dpr:2"])
  func aResultOverTheLimitIsThatWhateverTheRatio(text: String) throws {
    var operations = ImageOperations()
    for option in text.split(separator: "/") {
      let parts = option.split(separator: ":").map(String.init)
      try operations.apply(parts[0], Array(parts.dropFirst()), at: .url)
    }
    let plan = try operations.plan()
    var context = ProcessingContext()
    context.limits.outputByteCount = 100
    let error = #expect(throws: ImageError.self) {
      var image = ImageContainer(.solid(SIMD4(1, 2, 3, 255), width: 400, height: 300))
      for step in [.resize(plan.size ?? .pixels(40))] + plan.processors { image = try step.process(image, context) }
    }
    #expect(error?.code == .overLimit && error?.limit == .outputByteCount)
  }

  @Test(arguments: Orientation.allCases)
  func anImageCanStayAsItIsStored(orientation: Orientation) throws {
    let stored = Bitmap.testPattern(width: 60, height: 30)
    let size = orientation.applied(width: 60, height: 30)
    var upright = Bitmap.solid(SIMD4(0, 0, 0, 255), width: size.width, height: size.height)
    for y in 0..<30 {
      for x in 0..<60 {
        let place = orientation.upright(x: x, y: y, width: 60, height: 30)
        upright.draw(.solid(stored[x, y], width: 1, height: 1), at: place)
      }
    }
    var image = ImageContainer(upright)
    image.info = ImageInfo(format: .jpeg, storedWidth: 60, storedHeight: 30, orientation: orientation)
    for step in try ImageOperations("ar:0").plan().processors { image = try step.process(image) }
    #expect(image.bitmap.pixels == stored.pixels)
    #expect(try ImageOperations("w:10|ar:0").plan().size == nil)
    // In these formats the turn belongs to the picture.
    image = image.replacing(upright)
    image.info = ImageInfo(format: .avif, storedWidth: 60, storedHeight: 30, orientation: orientation)
    for step in try ImageOperations("ar:0").plan().processors { image = try step.process(image) }
    #expect(image.bitmap.size == upright.size)
  }

  /// Before, all of the image was enlarged, 600 by 300 pixels, and refused.
  @Test
  func onlyThePartThatIsShownIsEnlarged() throws {
    #expect(try result(ImageOperations("c:0:0", "rs:fill:10:300:1")).size == [10, 300])
  }

  // MARK: - Random operations

  @Test
  func randomOperationsEndInAPictureOrAnError() throws {
    var numbers = SplitMix64(seed: 12)
    var pictures = 0
    for _ in 0..<400 {
      var operations = ImageOperations.random(probability: 0.2, using: &numbers)
      operations[number: .width] = 40
      do {
        let made = try result(operations)
        #expect(made.width > 0 && made.height > 0)
        let expected = expectedSize(operations)
        if max(expected.width, expected.height) <= 400 { #expect(max(made.width, made.height) <= 400) }
        pictures += 1
      } catch let error as ImageError {
        #expect([.overLimit, .invalidSize, .processingFailed].contains(error.code), "\(operations.texts) \(error)")
      }
    }
    #expect(pictures > 50)
  }

  @Test
  func allNamesOfAnOperationMeanTheSame() throws {
    var numbers = SplitMix64(seed: 13)
    for row in ImageOperation.table {
      let texts = row.randomTexts(using: &numbers)
      let made = row.syntax.names.map { name in
        var operations = ImageOperations()
        return (try? operations.apply(name, texts, at: .url)).map { operations }
      }
      #expect(made.allSatisfy { $0 == made.first })
    }
  }

  /// Caches on disk have these names.
  @Test(arguments: [
    ("rs:fill:300:200", []),
    ("rs:fill-down:300:200/g:no", []),
    (
      "rs:fill:300:200/g:sm", ["context(thumbnail box fill 300 200 1 1 1 0 0 sm)"],
    ),
    (
      "rs:fill:300:0:1/mh:100/g:fp:0.5:0.25/dpr:2",
      [],
    ),
    (
      "c:0.5:50:ea:3/t:5:ffffff:1/w:40/rot:-90/fl:1:1",
      [
        "trim(5,#FFFFFF,onto #FF00FF,equal left)", "rotate(270)", "flip(horizontal)", "flip(vertical)",
        "context(original crop 0.5 50 ea:3:0)", "context(thumbnail box fit 40 0 1 1 1 0 0 ce)",
      ],
    ),
    ("c:90:0.5:sm", ["smartCrop(90px,0.5fr,attention)", "context(thumbnail box fit 0 0 1 1 1 0 0 ce)"]),
    (
      "w:40/h:40/a:51:1.5:0/bl:2.5/sh:0.7/rc:8/dpr:2",
      [
        "container(thumbnail brightness(0.2) > contrast(1.5) > saturation(0) > blur(2.5px) > sharpen(0.5,0.7px) > "
          + "corners(16px) > box fit 40 40 1 1 2 0 0 ce)"
      ],
    ),
    (
      "ar:0/w:40/exar:1/pd:1:2/mrd:50",
      [
        "container(thumbnail container(stored orientation) > context(thumbnail box fit 40 0 1 1 1 0 0 ce within 50 shaped "
          + "padded 1 2 1 2) > padding(1px,2px,1px,2px) > box fit 40 0 1 1 1 0 0 ce within 50 shaped padded 1 2 1 2)"
      ],
    ),
    ("sepia:0.5/dt:0.25:1a2a6c", ["sepia(0.5)", "duotone(#1A2A6C,#FFFFFF,0.25)"]),
    (
      "w:40/h:20/ex:1:soea:2:0.25/exar:1/pd:1:2/rc:1:2:3:4/bg:102030",
      [
        "corners(1px 2px 3px 4px)", "thumbnail canvas(size,40 20,soea:2:0.25,1,#102030)",
        "thumbnail canvas(shape,40 20,ce,1,#102030)",
        "padding(1px,2px,1px,2px,#102030)", "background(#102030)",
      ],
    ),
  ])
  func identifiersOfProcessorsStayTheSame(texts: String, identifiers: [String]) throws {
    let operations = ImageOperations(texts.split(separator: "/").map(String.init))
    #expect(try operations.plan().processors.map(\.identifier) == identifiers)
  }

  /// Sets the operation of an example.
  private func apply(
    _ row: ImageOperation,
    _ example: String,
    to operations: inout ImageOperations,
    at site: OperationParameter.Site = .url,
  ) throws {
    let pieces = try #require(ImageOperations.pieces(example).first)
    #expect(row.syntax.names.contains(pieces[0]))
    try operations.apply(pieces[0], Array(pieces.dropFirst()), at: site)
  }
}

extension ImageOperations {
  /// Makes operations of a URL, which the test has written.
  fileprivate init(_ texts: String...) { self.init(texts) }

  fileprivate init(_ texts: [String]) {
    self.init()
    for text in texts {
      let pieces = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      do {
        try apply(pieces[0], Array(pieces.dropFirst()), at: .url)
      } catch {
        Issue.record(error)
      }
    }
  }
}

extension Bitmap {
  fileprivate static var mark: Bitmap { ImageProcessor.mark }
}
