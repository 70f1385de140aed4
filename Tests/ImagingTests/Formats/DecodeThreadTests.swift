import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// The number of threads that a codec may use for an image.
struct DecodeThreadTests {
  /// Notes the number of threads, and then fails or declines as a test wants.
  private struct NotingDecoder: ImageDecoder {
    let format: ImageFormat
    var side = 1024
    let noted = Watched<[Int]>([])

    var formats: [ImageFormat] { [.qoi] }

    func info(
      of bytes: UnsafeRawBufferPointer,
      format: ImageFormat,
      limits: DecodeLimits,
    ) throws(ImageError) -> ImageInfo? {
      var info = ImageInfo(format: self.format, storedWidth: side, storedHeight: side)
      info.streamsRows = true
      return info
    }

    func open(_ bytes: UnsafeRawBufferPointer, _ request: RowRequest) throws(ImageError) -> (any RowSource)? {
      noted.change { $0.append(request.threadCount) }
      throw ImageError(.corrupt, "corrupt: noted")
    }
  }

  private let cores = CoreBudget(count: 4)

  private func threads(
    _ decoder: NotingDecoder,
    _ change: (inout DecodeOptions, inout DecodeJob) -> Void = { (_, _) in },
  ) throws -> [Int] {
    var options = DecodeOptions(size: .pixels(4, 4))
    var job = DecodeJob(cores: cores)
    change(&options, &job)
    let error = failure { try DecoderRegistry([decoder]).decode(StubDecoder.file, options, job) }
    #expect(error?.code == .corrupt)
    return decoder.noted.value
  }

  @Test(arguments: [(ImageFormat.heic, 4), (.avif, 4), (.jxl, 4), (.webp, 2), (.png, 1), (.bitmap, 1)])
  func aLoneImageMayUseTheIdleCores(format: ImageFormat, count: Int) throws {
    #expect(try threads(NotingDecoder(format: format)) == [count])
    #expect(cores.usedCount == 0)
  }

  @Test
  func inABatchEachImageHasOneThread() throws {
    let others = (0..<3).map { _ in cores.enter() }

    #expect(try threads(NotingDecoder(format: .heic)) == [1])

    others.forEach { $0.leave() }
    #expect(try threads(NotingDecoder(format: .heic)) == [4])
  }

  @Test
  func aSmallImageHasOneThread() throws {
    #expect(try threads(NotingDecoder(format: .heic, side: 1023)) == [1])
  }

  @Test
  func thereAreNeverMoreThanEight() throws {
    #expect(try threads(NotingDecoder(format: .heic)) { $1.cores = CoreBudget(count: 100) } == [8])
  }

  @Test
  func threadsForWhichThereIsNoMemoryAreGivenUp() throws {
    // Room for the image, and for two threads more but not for three.
    let image = StubDecoder.file.count + 4 * 4 * 4
    let two = try threads(NotingDecoder(format: .heic)) { (options, _) in
      options.limits.memoryByteCount = image + 3 * DecodeThreads.byteCount - 1
    }
    let all = try threads(NotingDecoder(format: .heic)) { (options, _) in
      options.limits.memoryByteCount = image + 3 * DecodeThreads.byteCount
    }

    #expect(two == [1])
    #expect(all == [4])
  }

  @Test
  func theMemoryOfThreadsCountsAgainstTheCommonBudget() throws {
    let budget = ByteBudget(limit: 1 << 30)
    let share = MemoryShare(of: budget)

    _ = try threads(NotingDecoder(format: .heic)) { $1.memoryShare = share }

    #expect(budget.heldCount == StubDecoder.file.count + 4 * 4 * 4 + 3 * DecodeThreads.byteCount)
    share.release()
  }
}
