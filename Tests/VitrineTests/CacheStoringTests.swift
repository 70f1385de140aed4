import Testing
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Images and bytes that a program stores itself.
@Suite(.patient)
struct CacheStoringTests {
  private static let text = "https://example.org/a.png"
  private let url: URL
  private let parts = PipelineParts()
  private let file = TestPicture.png
  private let picture = Bitmap.testPattern(width: 32, height: 24)

  init() throws {
    url = try #require(URL(string: Self.text))
    parts.loader.answer(Self.text, with: file, headers: ["Cache-Control": "max-age=60"])
  }

  /// A pipeline as after a start of the program.
  private func start(_ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }) -> ImagePipeline {
    .testing(parts, configure)
  }

  private var thumbnail: ImageRequest { ImageRequest(url: url, size: .pixels(32, 32)) }

  private func isMine(_ image: Bitmap) -> Bool {
    image.width == picture.width && image.height == picture.height && image.psnr(against: picture) == .infinity
  }

  // MARK: By URL

  @Test
  func theImageOfAURLIsReadAndSetByTheURL() {
    let cache = start().cache
    #expect(cache[url] == nil)
    cache[url] = picture
    #expect(cache[url].map(isMine) == true)
    #expect(cache[ImageRequest(url: url)] != nil)
    #expect(cache[thumbnail] == nil)
    cache[url] = nil
    #expect(cache[url] == nil)
  }

  // MARK: Images

  @Test(arguments: [StoragePolicy.automatic, .finished, .both])
  func anImageIsFoundInMemoryAndAfterARestartOnDisk(storage: StoragePolicy) async throws {
    let request = ImageRequest(url: url, size: .pixels(32, 32), processors: [.custom(id: "a") { $0 }])
    let pipeline = start { $0.storagePolicy = storage }
    #expect(await pipeline.cache.store(picture, for: request) == .all)
    #expect(pipeline.cachedImage(for: request) != nil)

    let response = try await start { $0.storagePolicy = storage }.imageTask(for: request).response

    #expect(response.origin == .disk)
    #expect(isMine(response.image))
    #expect(parts.loader.counts.loads == 0)
  }

  @Test
  func anImageOfItsOwnSizeServesEverySizeAfterARestart() async throws {
    #expect(await start().cache.store(picture, for: url) == .all)
    #expect(isMine(try await start().image(for: url)))
    #expect(try await start().image(for: ImageRequest(url: url, size: .pixels(8, 8))).width == 8)
    #expect(try await start().data(for: url).starts(with: [0x89, 0x50]))
    #expect(parts.loader.counts.loads == 0)
  }

  @Test
  func twelveHoursLaterItIsLoadedAnew() async throws {
    for request in [ImageRequest(url: url), thumbnail] {
      let expiration = Expiration.after(.seconds(12 * 3600))
      await start().cache.store(picture, for: request, expiration: expiration)
      parts.clock.advance(by: .seconds(12 * 3600 - 1))
      #expect(isMine(try await start().image(for: request)))
      parts.clock.advance(by: .seconds(1))

      let response = try await start().imageTask(for: request).response

      #expect(response.origin == .network)
      #expect(!isMine(response.image))
      await start().cache.remove(url)
    }
    #expect(parts.loader.counts.loads == 2)
  }

  @Test
  func inMemoryItExpiresAtTheSameTime() async throws {
    let pipeline = start()
    await pipeline.cache.store(
      picture,
      for: thumbnail,
      in: .memory,
      expiration: .at(parts.clock.now.addingTimeInterval(9)),
    )
    #expect(isMine(try await pipeline.image(for: thumbnail)))
    parts.clock.advance(by: .seconds(9))
    #expect(pipeline.cachedImage(for: thumbnail)?.isStale == true)
    #expect(!isMine(try await pipeline.image(for: thumbnail)))
  }

  /// For a day, like what a server has sent.
  @Test
  func expiredItStandsInForAServerThatCannotBeReached() async throws {
    parts.loader.answer(Self.text, failing: .cannotConnect)
    for request in [ImageRequest(url: url), thumbnail] {
      await start().cache.store(picture, for: request, expiration: .after(.seconds(60)))
      parts.clock.advance(by: .seconds(61))
      let response = try await start().imageTask(for: request).response
      #expect(response.isStale)
      #expect(isMine(response.image))
      parts.clock.advance(by: .seconds(86_400))
      await #expect(throws: LoadError.self) { try await start().image(for: request) }
      await start().cache.remove(url)
    }
  }

  @Test
  func whatHasExpiredAlreadyIsNotStoredAndRemovesWhatIsThere() async throws {
    for request in [ImageRequest(url: url), thumbnail] {
      let pipeline = start()
      await pipeline.cache.store(picture, for: request)
      for expiration in [Expiration.after(.zero), .after(.seconds(-1)), .at(parts.clock.now)] {
        #expect(await pipeline.cache.store(picture, for: request, expiration: expiration) == [])
        #expect(await !pipeline.cache.contains(request))
      }
    }
  }

  @Test
  func oneTierIsLeftAloneWhereTheOtherIsNamed() async throws {
    let pipeline = start()
    #expect(await pipeline.cache.store(picture, for: thumbnail, in: .memory) == .memory)
    #expect(await !pipeline.cache.contains(thumbnail, in: .disk))
    await pipeline.cache.removeAll()
    #expect(await pipeline.cache.store(picture, for: thumbnail, in: .disk) == .disk)
    #expect(pipeline.cachedImage(for: thumbnail) == nil)
    #expect(try await pipeline.imageTask(for: thumbnail).response.origin == .disk)
  }

  /// Neither the bytes that come for another size nor those that were there before make it outdated.
  @Test
  func aStoredThumbnailStandsBesideTheServersImage() async throws {
    let pipeline = start { $0.storagePolicy = .both }
    _ = try await pipeline.image(for: ImageRequest(url: url, size: .pixels(8, 8)))
    await pipeline.cache.store(picture, for: thumbnail)
    await pipeline.cache.flush()
    let next = start { $0.storagePolicy = .both }
    #expect(isMine(try await next.image(for: thumbnail)))
    var anew = ImageRequest(url: url, size: .pixels(16, 16))
    anew.cachePolicy = .reload
    _ = try await next.image(for: anew)
    await next.cache.flush()
    #expect(isMine(try await start { $0.storagePolicy = .both }.image(for: thumbnail)))
  }

  @Test
  func anImageOfItsOwnSizeTakesThePlaceOfAllThatWasMadeOfTheOldBytes() async throws {
    let pipeline = start { $0.storagePolicy = .both }
    let small = ImageRequest(url: url, size: .pixels(8, 8))
    let old = try await pipeline.image(for: small)
    await pipeline.cache.flush()

    await pipeline.cache.store(picture, for: url)

    #expect(pipeline.cachedImage(for: small) == nil)
    #expect(try await pipeline.image(for: small).psnr(against: old) < .infinity)
    #expect(parts.loader.counts.loads == 1)
  }

  /// An answer to an earlier question does not take the place of what was stored since.
  @Test
  func anImageThatIsStillComingDoesNotReplaceWhatWasStoredMeanwhile() async throws {
    parts.loader.removeAnswer(Self.text)
    let pipeline = start()
    let task = pipeline.imageTask(for: url)
    let load = try await parts.loader.nextLoad(of: Self.text)
    await pipeline.cache.store(picture, for: url)
    load.respond(with: FakeResponse(headers: ["Cache-Control": "max-age=60"], body: file))
    #expect(try await task.image.width == 64)
    await pipeline.cache.flush()
    #expect(pipeline.cache[url].map(isMine) == true)
    #expect(isMine(try await start().image(for: url)))
  }

  @Test
  func storedByManyAtOnceOneOfThemStays() async throws {
    let pipeline = start()
    let (url, thumbnail) = (url, thumbnail)
    await withTaskGroup { group in
      for index in 0..<40 {
        let image = Bitmap.solid(SIMD4(UInt8(index), 0, 0, 255), width: 32, height: 24)
        group.addTask {
          _ = await pipeline.cache.store(image, for: index.isMultiple(of: 2) ? ImageRequest(url: url) : thumbnail)
        }
        if index.isMultiple(of: 8) { group.addTask { await pipeline.cache.remove(url) } }
      }
    }
    await pipeline.cache.store(picture, for: url)
    await pipeline.cache.store(picture, for: thumbnail)
    await pipeline.cache.flush()
    #expect(isMine(try await start().image(for: url)))
    #expect(isMine(try await start().image(for: thumbnail)))
    #expect(parts.loader.counts.loads == 0)
  }

  @Test
  func storingGoesOnWhenItsCallerIsCancelled() async throws {
    let pipeline = start()
    let (thumbnail, picture) = (thumbnail, picture)
    let storing = Task { await pipeline.cache.store(picture, for: thumbnail) }
    storing.cancel()
    #expect(await storing.value == .all)
    #expect(try await start().imageTask(for: thumbnail).response.origin == .disk)
  }

  // MARK: Where nothing is kept on disk

  @Test
  func underAPolicyOfOriginalsAThumbnailIsKeptInMemoryOnly() async throws {
    let pipeline = start { $0.storagePolicy = .original }
    #expect(await pipeline.cache.store(picture, for: thumbnail) == .memory)
    #expect(parts.diskCache.counts.writes == 0)
    #expect(await pipeline.cache.store(picture, for: url) == .all)
  }

  @Test
  func imagesOfNoURLAreKeptInMemoryOnly() async {
    let pipeline = start()
    let sources: [ImageSource] = [.data(file, id: "a"), .file("/a.png"), .first(of: [.url(url)]), .url("no url")]
    for source in sources {
      #expect(await pipeline.cache.store(picture, for: ImageRequest(source, size: .pixels(8, 8))) == .memory)
      #expect(await pipeline.cache.store(picture, for: ImageRequest(source)) == .memory)
      #expect(await !pipeline.cache.storeData(file, for: ImageRequest(source)))
    }
    #expect(parts.diskCache.counts.writes == 0)
  }

  @Test
  func wideColourIsKeptInMemoryOnlyAndRemovesWhatTheDiskHad() async throws {
    let pipeline = start()
    await pipeline.cache.store(picture, for: url)
    let wide = unsafe Bitmap(width: 8, height: 8, alpha: .opaque, colorSpace: .displayP3) { pixels in
      // Of the bitmap's own size.
      unsafe pixels.initializeMemory(as: UInt8.self, repeating: 255)
    }
    #expect(await pipeline.cache.store(wide, for: url) == .memory)
    #expect(await !pipeline.cache.contains(url, in: .disk))
  }

  @Test
  func withoutCachesNothingIsStored() async {
    let pipeline = ImagePipeline(.ephemeral) {
      ($0.memoryCache, $0.diskCache, $0.loader) = (nil, nil, parts.loader)
    }
    #expect(await pipeline.cache.store(picture, for: url) == [])
    #expect(await !pipeline.cache.storeData(file, for: url))
    #expect(await pipeline.cache.data(for: url) == nil)
    pipeline.cache[url] = picture
    #expect(pipeline.cache[url] == nil)
  }

  @Test
  func decodersThatCannotReadItHaveNoFileOfIt() async {
    let pipeline = start { $0.decoders = DecoderRegistry([]) }
    #expect(await pipeline.cache.store(picture, for: url) == .memory)
  }

  @Test
  func anImageThatIsTooLargeForTheCacheIsNotSaidToBeThere() async throws {
    let folder = try TemporaryFolder()
    let disk = try folder.cache(sizeLimit: 1 << 20)
    let pipeline = start { $0.diskCache = disk }
    let large = Bitmap.testPattern(width: 400, height: 300)
    #expect(await pipeline.cache.store(large, for: ImageRequest(url: url, size: .pixels(400, 300))) == .memory)
    #expect(await pipeline.cache.store(picture, for: thumbnail) == .all)
    await disk.close()
  }

  @Test
  func aRealDiskBringsItBackAfterARestart() async throws {
    let folder = try TemporaryFolder()
    for isFirst in [true, false] {
      let disk = try folder.cache(parts.clock, sizeLimit: 10 << 20)
      let pipeline = start { $0.diskCache = disk }
      if isFirst {
        await pipeline.cache.store(picture, for: thumbnail, expiration: .after(.seconds(12 * 3600)))
        await pipeline.cache.flush()
      } else {
        #expect(isMine(try await pipeline.image(for: thumbnail)))
      }
      await disk.close()
    }
    #expect(parts.loader.counts.loads == 0)
  }

  // MARK: Bytes

  @Test
  func theStoredBytesAreReturnedWithoutARequest() async throws {
    let pipeline = start()
    #expect(await pipeline.cache.data(for: url) == nil)
    _ = try await pipeline.image(for: thumbnail)
    #expect(await pipeline.cache.data(for: url) == file)
    parts.clock.advance(by: .seconds(61))
    // Fresh or not.
    #expect(await pipeline.cache.data(for: thumbnail) == file)
    #expect(await pipeline.cache.data(for: ImageRequest(.first(of: [.url("no url"), .url(url)]))) == file)
    #expect(parts.loader.counts.loads == 1)
  }

  @Test
  func bytesThatAreStoredServeEverySizeUntilTheyExpire() async throws {
    let bytes = try picture.encoded(as: .png)
    #expect(await start().cache.storeData(bytes, for: url, expiration: .after(.seconds(60))))
    #expect(isMine(try await start().image(for: url)))
    #expect(try await start().image(for: ImageRequest(url: url, size: .pixels(8, 8))).width == 8)
    #expect(try await start().data(for: url) == bytes)
    #expect(parts.loader.counts.loads == 0)
    parts.clock.advance(by: .seconds(61))
    #expect(try await start().data(for: url) == file)
    #expect(await start().cache.storeData(bytes, for: url, expiration: .after(.zero)) == false)
    #expect(await start().cache.data(for: url) == nil)
  }

  @Test
  func bytesThatAreNoImageAreFetchedAnewByWhoWantsOne() async throws {
    let text = Data("text".utf8)
    #expect(await start().cache.storeData(text, for: url))
    #expect(try await start().data(for: url) == text)
    #expect(try await start().image(for: url).width == 64)
  }
}
