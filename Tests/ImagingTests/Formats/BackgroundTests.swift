import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

struct BackgroundTests {
  static let file = Result { try Fixture.data("lossless.webp") }

  @Test
  func theThreeFormsGiveTheSamePicture() async throws {
    let data = try Self.file.get()
    let size = TargetSize.pixels(20, 20)
    let expected = try Bitmap(decoding: data, size: size)

    let called = Deferred<Result<Bitmap, ImageError>>()
    Bitmap.decode(data, size: size) { called.resolve($0) }
    let awaited = try await Bitmap.byDecoding(data, size: size)

    #expect(try await called.value().get().largestDifference(from: expected) == 0)
    #expect(awaited.largestDifference(from: expected) == 0)
  }

  @Test
  func aBitmapIsResizedInTheThreeForms() async throws {
    let bitmap = Bitmap.testPattern(width: 60, height: 40)
    let expected = try bitmap.resized(to: .pixels(20, 20))

    let called = Deferred<Result<Bitmap, ImageError>>()
    bitmap.resize(to: .pixels(20, 20)) { called.resolve($0) }
    let awaited = try await bitmap.byResizing(to: .pixels(20, 20))

    #expect(try await called.value().get().largestDifference(from: expected) == 0)
    #expect(awaited.largestDifference(from: expected) == 0)
  }

  @Test
  func whatGoesWrongComesAsAnError() async throws {
    let called = Deferred<Result<Bitmap, ImageError>>()
    Bitmap.decode(Data("text".utf8)) { called.resolve($0) }

    let failed = await called.value()
    #expect(throws: ImageError.self) { try failed.get() }
    let error = await #expect(throws: ImageError.self) { try await Bitmap.byDecoding(Data()) }
    #expect(error?.code == .unrecognised)
    let size = await #expect(throws: ImageError.self) {
      try await Bitmap.testPattern(width: 6, height: 4).byResizing(to: .pixels(0, 0))
    }
    #expect(size?.code == .invalidSize)
  }

  @Test
  func cancellingEndsDecodingWithOneAnswer() async throws {
    let data = try Self.file.get()
    let (started, release) = (Deferred<Void>(), Gate())
    let answers = Deferred<[ImageError.Code?]>()
    var options = DecodeOptions()
    options.isCancelled = {
      started.resolve(())
      release.wait()
      return false
    }

    let task = DecoderRegistry.standard.decode(data, options) { result in
      do throws(ImageError) {
        _ = try result.get()
        answers.resolve([nil])
      } catch {
        answers.resolve([error.code])
      }
    }
    await started.value()
    task.cancel()
    task.cancel()
    release.open()

    #expect(await answers.value() == [.cancelled])
  }

  @Test
  func cancellingTheTaskThatWaitsEndsDecoding() async throws {
    let data = try Self.file.get()
    let (started, release) = (Deferred<Void>(), Gate())
    var options = DecodeOptions()
    options.isCancelled = {
      started.resolve(())
      release.wait()
      return false
    }

    let task = Task { [options] in
      do throws(ImageError) {
        _ = try await DecoderRegistry.standard.byDecoding(data, options)
        return nil as ImageError.Code?
      } catch {
        return error.code
      }
    }
    await started.value()
    task.cancel()
    release.open()

    #expect(await task.value == .cancelled)
  }

  @Test
  func aTaskCancelledBeforeDecodesNothing() async throws {
    let data = try Self.file.get()
    let gate = Deferred<Void>()

    let task = Task {
      await gate.value()
      do throws(ImageError) {
        _ = try await Bitmap.byDecoding(data)
        return nil as ImageError.Code?
      } catch {
        return error.code
      }
    }
    task.cancel()
    gate.resolve(())

    #expect(await task.value == .cancelled)
  }

  @Test
  func manyAtOnceAllEnd() async throws {
    let data = try Self.file.get()
    let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
      for side in 1...60 {
        group.addTask { try await Bitmap.byDecoding(data, size: .pixels(width: Double(side))).width }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }

    #expect(sizes.sorted() == Array(1...60))
  }
}
