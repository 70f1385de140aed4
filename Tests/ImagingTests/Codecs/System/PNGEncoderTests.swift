import Testing
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import VitrineImaging

/// The PNG encoder of our own, read back by the decoder.
struct PNGEncoderTests {
  /// Pictures of each kind, as a function of place and of chance.
  enum Kind: String, CaseIterable {
    case noise, translucentNoise, gray, grayWithAlpha, blackAndWhite, fourGrays, palette, translucentPalette, gradient,
      runs, flat, transparentColors, photograph

    var isOpaque: Bool {
      switch self {
      case .translucentNoise, .grayWithAlpha, .translucentPalette, .transparentColors: false
      default: true
      }
    }

    func picture(width: Int, height: Int, seed: UInt64 = 1) -> Bitmap {
      var generator = SplitMix64(seed: seed)
      func random(_ limit: Int = 255) -> UInt8 { UInt8.random(in: 0...UInt8(limit), using: &generator) }
      return .pixels(width: width, height: height, alpha: isOpaque ? .opaque : .straight) { x, y in
        switch self {
        case .noise: return SIMD4(random(), random(), random(), 255)
        case .translucentNoise: return SIMD4(random(), random(), random(), random())
        case .gray: return SIMD4(SIMD3(repeating: random()), 255)
        case .grayWithAlpha: return SIMD4(SIMD3(repeating: random()), random())
        case .blackAndWhite: return SIMD4(SIMD3(repeating: random(1) * 255), 255)
        case .fourGrays: return SIMD4(SIMD3(repeating: random(3) * 85), 255)
        case .palette: return SIMD4(random(5) * 40, 7, random(5) * 30, 255)
        case .translucentPalette: return SIMD4(random(3) * 40, 7, 9, random(2) * 100)
        case .gradient: return SIMD4(UInt8(x & 255), UInt8(y & 255), UInt8((x + y) & 255), 255)
        case .runs: return SIMD4(UInt8(x / 7 % 3 * 90), UInt8(y / 5 * 30 & 255), UInt8(x / 300 & 255), 255)
        case .flat: return SIMD4(10, 20, 30, 255)
        case .transparentColors: return SIMD4(UInt8(x & 255), UInt8(y & 255), random(), x % 2 == 0 ? 0 : 255)
        case .photograph:
          let light = 100 + Int(60 * sin(Double(x) / 40) * cos(Double(y) / 30))
          return SIMD4(
            UInt8(light + Int(random(9))),
            UInt8(light + Int(random(5))),
            UInt8(light / 2 + Int(random(9))),
            255,
          )
        }
      }
    }
  }

  static func encode(
    _ picture: Bitmap,
    _ compression: ImageEncoding.PNGCompression = .fast,
    _ kernels: PixelKernels = .best,
  ) throws -> Data {
    var composer = PNGComposer(EncoderInput(picture), PNGOptions(compression))
    composer.kernels = kernels
    return try composer.file()
  }

  @Test(arguments: Kind.allCases)
  func picturesOfAllSmallSizesComeBackExactly(kind: Kind) throws {
    for width in 1...40 {
      for height in 1...7 {
        let picture = kind.picture(width: width, height: height, seed: UInt64(width * 10 + height))

        let file = try Self.encode(picture)

        let decoded = try decode(file)
        #expect(decoded.bitmap.size == picture.size)
        #expect(decoded.bitmap.largestDifference(from: picture) == 0, "\(width)x\(height)")
        #expect(try Self.encode(picture, .fast, .scalar) == file, "\(width)x\(height)")
      }
    }
  }

  @Test(arguments: Kind.allCases, ImageEncoding.PNGCompression.allCases)
  func aPictureOfSeveralBlocksComesBackExactly(kind: Kind, compression: ImageEncoding.PNGCompression) throws {
    let picture = kind.picture(width: 301, height: 203)

    let file = try Self.encode(picture, compression)

    #expect(try Bitmap(decoding: file).largestDifference(from: picture) == 0)
    #expect(try Self.encode(picture, compression, .scalar) == file)
  }

  @Test(arguments: [(10_000, 3), (65_000, 2), (3, 30_000), (1, 1), (1, 65_000), (65_000, 1)])
  func longAndThinPicturesComeBackExactly(size: (width: Int, height: Int)) throws {
    for kind in [Kind.photograph, .runs, .palette, .blackAndWhite, .translucentNoise] {
      let picture = kind.picture(width: size.width, height: size.height)

      #expect(try Bitmap(decoding: Self.encode(picture)).largestDifference(from: picture) == 0, "\(kind)")
    }
  }

  @Test
  func aRepetitionAtTheEndOfTheWindowIsFound() throws {
    // Noise cannot be compressed, and repeats after 92 rows of 356 bytes, filters and all: 32,752 bytes.
    let noise = Kind.noise.picture(width: 117, height: 92)
    let twice = Bitmap.pixels(width: 117, height: 276, alpha: .opaque) { x, y in noise[x, y % 92] }

    let file = try Self.encode(twice)

    #expect(try Bitmap(decoding: file).largestDifference(from: twice) == 0)
    #expect(try file.count < Self.encode(noise).count * 3 / 2)
  }

  @Test
  func noiseTakesNoMoreThanItsBytes() throws {
    let noise = Kind.noise.picture(width: 300, height: 200)

    let file = try Self.encode(noise)

    #expect(try Bitmap(decoding: file).largestDifference(from: noise) == 0)
    #expect(file.count < 200 * 901 + 200)
  }

  @Test(arguments: Kind.allCases)
  func theSmallestFileIsNotLarger(kind: Kind) throws {
    let picture = kind.picture(width: 150, height: 120)

    #expect(try Self.encode(picture, .smallest).count <= Self.encode(picture, .fast).count)
  }

  @Test(arguments: [
    (Kind.noise, 2, 8), (.translucentNoise, 6, 8), (.gray, 0, 8), (.grayWithAlpha, 4, 8), (.blackAndWhite, 0, 1),
    (.fourGrays, 0, 2), (.palette, 3, 8), (.translucentPalette, 3, 4), (.gradient, 2, 8), (.flat, 3, 1),
    (.transparentColors, 6, 8), (.photograph, 2, 8),
  ])
  func aFileHasTheColorTypeThatLosesNothing(kind: (kind: Kind, colorType: Int, depth: Int)) throws {
    let file = try [UInt8](Self.encode(kind.kind.picture(width: 200, height: 150)))

    #expect(Int(file[25]) == kind.colorType)
    #expect(Int(file[24]) == kind.depth)
  }

  @Test
  func sixteenLevelsOfGrayTakeFourBits() throws {
    let picture = Bitmap.pixels(width: 200, height: 100, alpha: .opaque) { x, y in
      SIMD4(SIMD3(repeating: UInt8((x / 9 + y / 7) % 16 * 17)), 255)
    }

    let file = try Self.encode(picture)

    #expect([UInt8](file)[24...25] == [4, 0])
    #expect(try Bitmap(decoding: file).largestDifference(from: picture) == 0)
  }

  @Test(arguments: [2, 3, 4, 5, 16, 17, 255, 256, 257])
  func asManyColorsAsThereAreGetAPaletteOfTheirNumber(count: Int) throws {
    var generator = SplitMix64(seed: 3)
    let picture = Bitmap.pixels(width: 128, height: 128, alpha: .opaque) { x, y in
      let color = x + 128 * y < count ? x + 128 * y : Int.random(in: 0..<count, using: &generator)
      return SIMD4(UInt8(color & 255), UInt8(color >> 8 + 40), 77, 255)
    }

    let file = try Self.encode(picture)

    let depth = count <= 2 ? 1 : count <= 4 ? 2 : count <= 16 ? 4 : 8
    #expect([UInt8](file)[24...25] == [UInt8(depth), count <= 256 ? 3 : 2])
    #expect(try Bitmap(decoding: file).largestDifference(from: picture) == 0)
  }

  @Test
  func transparentPixelsKeepTheirColors() throws {
    let picture = Kind.transparentColors.picture(width: 50, height: 40)

    let decoded = try Bitmap(decoding: Self.encode(picture))

    #expect(decoded.pixels == picture.pixels)
  }

  @Test
  func onlyTranslucentColorsHaveAnEntryForTransparency() throws {
    let picture = Bitmap.pixels(width: 200, height: 200) { x, y in
      x < 100 ? SIMD4(UInt8(y), 1, 2, 255) : SIMD4(3, UInt8(y % 9), 4, 128)
    }

    let chunks = try PNGChunks(Self.encode(picture)).chunks

    #expect(chunks.first { $0.type == "PLTE" }?.body.count == 3 * 209)
    #expect(chunks.first { $0.type == "tRNS" }?.body == [UInt8](repeating: 128, count: 9))
  }

  @Test(arguments: [Kind.photograph, .runs, .palette])
  func chunksComeInOrderWithTheirChecksums(kind: Kind) throws {
    let exif = TIFFBlock.orientation(1, littleEndian: false)
    let xmp = [UInt8].text("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>")
    let profile = ICCProfile.version4(german: "Anzeige", english: "Display  P3\u{e9} ")
    let input = EncoderInput(
      kind.picture(width: 250, height: 150),
      metadata: WrittenMetadata(exif: Data(exif), xmp: Data(xmp)),
    )
    var composer = PNGComposer(input, PNGOptions())
    composer.profile = ColorProfile(data: Data(profile))

    let file = try composer.file()

    let read = try PNGChunks(file)
    #expect(read.areChecksumsRight)
    let before = kind == .photograph ? ["IHDR", "iCCP"] : ["IHDR", "iCCP", "PLTE"]
    #expect(read.types == before + ["eXIf", "iTXt", "IDAT", "IEND"])
    #expect(read.chunks[1].body.starts(with: [UInt8].text("Display P3") + [0, 0]))
    let metadata = try DecoderRegistry.standard.metadata(of: file)
    #expect(metadata.exif == Data(exif))
    #expect(metadata.xmp == Data(xmp))
    #expect(metadata.colorProfile?.data == Data(profile))
    #expect(try decode(file).bitmap.size == [250, 150])
  }

  @Test
  func aProfileWithoutANameHasAKeyword() throws {
    var composer = PNGComposer(EncoderInput(Kind.flat.picture(width: 3, height: 3)), PNGOptions())
    composer.profile = ColorProfile(data: Data(ICCProfile.version2(" ")))

    let chunks = try PNGChunks(composer.file()).chunks

    #expect(chunks[1].body.starts(with: [UInt8].text("ICC") + [0, 0]))
  }

  /// The specification allows a profile of colours with the colour types 2, 3 and 6 only (11.3.2.3).
  @Test(arguments: [
    (Kind.gray, false), (.grayWithAlpha, false), (.blackAndWhite, false), (.fourGrays, false), (.photograph, true),
    (.palette, true), (.transparentColors, true),
  ])
  func grayHasNoProfileOfColors(kind: Kind, hasProfile: Bool) throws {
    let plain = kind.picture(width: 90, height: 70)
    let wide = unsafe Bitmap(width: 90, height: 70, alpha: plain.alpha, colorSpace: .displayP3) { bytes in
      // The rows of both have 90 pixels of 4 bytes.
      for (index, pixel) in plain.pixels.enumerated() {
        unsafe bytes.storeBytes(of: pixel, toByteOffset: 4 * index, as: SIMD4<UInt8>.self)
      }
    }

    let file = try Self.encode(wide)

    #expect(try PNGChunks(file).types.contains("iCCP") == hasProfile)
    let decoded = try decode(file) { $0.colorSpace = .displayP3 }.bitmap
    #expect(decoded.colorSpace == .displayP3)
    #expect(decoded.premultiplied().largestDifference(from: wide.premultiplied()) == 0)
  }

  @Test
  func compressedPixelsComeInChunksOfBoundedSize() throws {
    let picture = Kind.noise.picture(width: 1000, height: 800)

    let file = try Self.encode(picture)

    let read = try PNGChunks(file)
    let sizes = read.chunks.filter { $0.type == "IDAT" }.map(\.body.count)
    #expect(sizes.count == 3)
    #expect(sizes.allSatisfy { $0 < 1 << 20 + 1 << 17 })
    #expect(read.areChecksumsRight)
    #expect(try Bitmap(decoding: file).largestDifference(from: picture) == 0)
  }

  @Test(arguments: [Kind.photograph, .runs, .palette, .gray], ImageEncoding.PNGCompression.allCases)
  func encodingStopsWhenItIsCancelled(kind: Kind, compression: ImageEncoding.PNGCompression) throws {
    let picture = kind.picture(width: 600, height: 400)
    let calls = Lock(0)
    _ = try PNGEncoder().encode(EncoderInput(picture) { calls.withLock { $0 += 1 } != () }, PNGOptions(compression))
    let all = calls.withLock { $0 }
    #expect(all >= 6)

    for limit in [0, 1, all / 2, all - 1] {
      let rest = Lock(limit)
      let input = EncoderInput(
        picture,
        isCancelled: {
          rest.withLock {
            $0 -= 1
            return $0 < 0
          }
        },
      )
      #expect(failure { try PNGEncoder().encode(input, PNGOptions(compression)) }?.code == .cancelled)
    }
  }

  @Test(.needsCorpus)
  func photographsComeBackExactly() throws {
    for name in ["01", "13", "15", "20"] {
      let picture = try Bitmap(decoding: Corpus.data("kodak/PhotoCD_PCD0992/\(name).png"))
      for size in [TargetSize.pixels(300, 200), .pixels(768, 512)] {
        let scaled = try decode(Corpus.data("kodak/PhotoCD_PCD0992/\(name).png"), size).bitmap

        #expect(try Bitmap(decoding: Self.encode(scaled)).largestDifference(from: scaled) == 0)
      }
      #expect(try Self.encode(picture).count < picture.width * picture.height * 3)
    }
  }
}

/// The chunks of a PNG file, and their checksums.
struct PNGChunks {
  let chunks: [(type: String, body: [UInt8])]
  let areChecksumsRight: Bool

  init(_ file: Data) throws {
    var rest = [UInt8](file)[8...]
    var (chunks, areRight): ([(type: String, body: [UInt8])], Bool) = ([], true)
    while !rest.isEmpty {
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      try #require(rest.count >= length + 12)
      let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
      let body = Array(rest.dropFirst(8).prefix(length))
      areRight = areRight && Array(rest.prefix(length + 12)) == PNGFile.chunk(type, body)
      chunks.append((type, body))
      rest = rest.dropFirst(length + 12)
    }
    (self.chunks, areChecksumsRight) = (chunks, areRight)
  }

  /// The types in order; several of the same in a row count once.
  var types: [String] {
    chunks.map(\.type).reduce(into: []) { types, type in
      if types.last != type { types.append(type) }
    }
  }
}
