import Foundation
import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime

/// A 3x2 picture, in a format that each pipeline decodes.
let picture: Data = {
  let bitmap = Bitmap(width: 3, height: 2, alpha: .opaque) {
    unsafe $0.initializeMemory(as: UInt8.self, repeating: 255)
  }
  guard let data = try? bitmap.encoded(as: .png) else { fatalError("no PNG") }
  return data
}()

let address = url("http://picture.invalid/a.png")

func url(_ text: String) -> URL {
  guard let url = URL(string: text) else { fatalError("no URL: \(text)") }
  return url
}

/// A loader that calls its sink as `script` says.
struct LyingLoader: DataLoader {
  let script: @Sendable (HTTPRequest, any LoadSink) -> Void
  var handle: @Sendable (any LoadSink) -> any LoadHandle = { _ in NoLoadHandle() }

  func load(_ request: HTTPRequest, into sink: any LoadSink) -> any LoadHandle {
    script(request, sink)
    return handle(sink)
  }
}

/// A handle that calls the sink when it is cancelled.
final class TalkativeHandle: LoadHandle {
  let sink: any LoadSink
  init(_ sink: any LoadSink) { self.sink = sink }

  var priority: Priority {
    get { .high }
    set { sink.finish(nil) }
  }
  func cancel() {
    _ = sink.receive(picture)
    sink.finish(nil)
    sink.finish(HTTPError(.cancelled, url: "", "twice"))
  }
  func resume() { _ = sink.receive(picture) }
}

private func head(_ request: HTTPRequest, _ status: Int = 200, _ fields: HTTPFields = [:]) -> HTTPResponse {
  HTTPResponse(status: status, headers: fields, url: request.url)
}

/// Calls a body from two threads at once, again and again.
private func fromTwoThreads(_ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for _ in 0..<2 { DispatchQueue.global().async(group: group) { for index in 0..<200 { body(index) } } }
  group.wait()
}

private let scripts: [(String, @Sendable (HTTPRequest, any LoadSink) -> Void)] = {
  var all: [(String, @Sendable (HTTPRequest, any LoadSink) -> Void)] = [
    ("nothing but an end", { $1.finish(nil) }),
    (
      "bytes before the head",
      {
        _ = $1.receive(picture); _ = $1.receive(head($0)); $1.finish(nil)
      },
    ),
    (
      "bytes without a head",
      {
        _ = $1.receive(picture); $1.finish(nil)
      },
    ),
    (
      "two heads",
      {
        _ = $1.receive(head($0)); _ = $1.receive(head($0)); _ = $1.receive(picture); $1.finish(nil)
      },
    ),
    (
      "a head after bytes",
      {
        _ = $1.receive(head($0)); _ = $1.receive(picture); _ = $1.receive(head($0)); $1.finish(nil)
      },
    ),
    (
      "two ends",
      {
        _ = $1.receive(head($0)); _ = $1.receive(picture); $1.finish(nil); $1.finish(nil)
      },
    ),
    (
      "an end and an error",
      {
        _ = $1.receive(head($0)); $1.finish(nil); $1.finish(HTTPError(.timedOut, url: "", "late"))
      },
    ),
    (
      "bytes after the end",
      {
        _ = $1.receive(head($0)); _ = $1.receive(picture); $1.finish(nil); _ = $1.receive(picture)
      },
    ),
    (
      "a head after the end",
      {
        _ = $1.receive(head($0)); $1.finish(nil); _ = $1.receive(head($0)); $1.finish(nil)
      },
    ),
    (
      "begins twice",
      {
        $1.begin(); $1.begin(); _ = $1.receive(head($0)); $1.begin(); _ = $1.receive(picture); $1.finish(nil)
      },
    ),
    (
      "begins after the end",
      {
        _ = $1.receive(head($0)); _ = $1.receive(picture); $1.finish(nil); $1.begin()
      },
    ),
    (
      "no bytes",
      {
        _ = $1.receive(head($0)); _ = $1.receive(Data()); $1.finish(nil)
      },
    ),
    (
      "bytes from two threads",
      { request, sink in
        _ = sink.receive(head(request))
        fromTwoThreads { _ in _ = sink.receive(picture) }
        sink.finish(nil)
      },
    ),
    (
      "heads and bytes from two threads",
      { request, sink in
        fromTwoThreads { _ in
          _ = sink.receive(head(request))
          _ = sink.receive(picture)
        }
        sink.finish(nil)
      },
    ),
    (
      "ends from two threads",
      { request, sink in
        _ = sink.receive(head(request))
        _ = sink.receive(picture)
        fromTwoThreads { _ in sink.finish(nil) }
      },
    ),
    (
      "everything from two threads",
      { request, sink in
        fromTwoThreads { index in
          if index % 7 == 0 { _ = sink.receive(head(request)) }
          _ = sink.receive(picture)
          if index > 150 { sink.finish(nil) }
        }
      },
    ),
    (
      "goes on after stop",
      { request, sink in
        _ = sink.receive(head(request))
        for _ in 0..<3000 { _ = sink.receive(Data(count: 1 << 16)) }
        sink.finish(nil)
      },
    ),
    (
      "late",
      { request, sink in
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) {
          _ = sink.receive(head(request))
          _ = sink.receive(picture)
          sink.finish(nil)
          _ = sink.receive(picture)
          sink.finish(nil)
        }
      },
    ),
    (
      "more than it announced",
      {
        _ = $1.receive(head($0, 200, ["Content-Length": "3"])); _ = $1.receive(picture); $1.finish(nil)
      },
    ),
    (
      "a part that was not asked for",
      {
        _ = $1.receive(head($0, 206, ["Content-Range": "bytes 5-9/10"])); _ = $1.receive(picture); $1.finish(nil)
      },
    ),
    (
      "a part of nothing",
      {
        _ = $1.receive(head($0, 206)); _ = $1.receive(picture); $1.finish(nil)
      },
    ),
    (
      "not modified, unasked",
      {
        _ = $1.receive(head($0, 304)); $1.finish(nil)
      },
    ),
  ]
  for status in [Int.min, -1, 0, 1, 99, 103, 204, 205, 299, 300, 399, 416, 599, 600, 1000, Int.max] {
    all.append(
      (
        "status \(status)",
        {
          _ = $1.receive(head($0, status)); _ = $1.receive(picture); $1.finish(nil)
        },
      )
    )
  }
  for length in [
    "-1", "0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e9", "", "3, 4", "ü",
  ] {
    all.append(
      (
        "length \(length)",
        {
          _ = $1.receive(head($0, 200, ["Content-Length": length])); _ = $1.receive(picture); $1.finish(nil)
        },
      )
    )
  }
  let numbers = ["-1", "9223372036854775807", "18446744073709551616", "1e999", "nan", ""]
  for number in numbers {
    all.append(
      (
        "max-age \(number)",
        {
          _ = $1.receive(head($0, 200, ["Cache-Control": "max-age=\(number), stale-while-revalidate=\(number)"]))
          _ = $1.receive(picture)
          $1.finish(nil)
        },
      )
    )
    all.append(
      (
        "Age \(number)",
        {
          _ = $1.receive(head($0, 200, ["Cache-Control": "max-age=60", "Age": number])); _ = $1.receive(picture);
          $1.finish(nil)
        },
      )
    )
    all.append(
      (
        "Retry-After \(number)",
        {
          _ = $1.receive(head($0, 503, ["Retry-After": number])); $1.finish(nil)
        },
      )
    )
    all.append(
      (
        "Content-Range \(number)",
        {
          _ = $1.receive(head($0, 206, ["Content-Range": "bytes \(number)-\(number)/\(number)"]))
          _ = $1.receive(picture)
          $1.finish(nil)
        },
      )
    )
  }
  for date in [
    "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 999999 23:59:59 GMT", "now",
  ] {
    for name in ["Date", "Expires", "Last-Modified"] {
      all.append(
        (
          "\(name) \(date)",
          {
            _ = $1.receive(head($0, 200, [name: date])); _ = $1.receive(picture); $1.finish(nil)
          },
        )
      )
    }
  }
  let text = String(repeating: "x", count: 1 << 20)
  for (name, value) in [
    ("X\r\nY", "1"), ("", "1"), ("X", "a\r\nSet-Cookie: b"), ("X", "\0"), ("ETag", text), ("Vary", text),
    ("Vary", "*"),
  ] {
    all.append(
      (
        "a field of \(name.count) and \(value.count) characters",
        {
          _ = $1.receive(head($0, 200, [name: value])); _ = $1.receive(picture); $1.finish(nil)
        },
      )
    )
  }
  for code in [HTTPError.Code.cancelled, .timedOut, .tooLarge, .truncated, .protocolError, .badStatus] {
    all.append(("an error before the head: \(code)", { $1.finish(HTTPError(code, url: "", "lie")) }))
    all.append(
      (
        "an error after all: \(code)",
        {
          _ = $1.receive(head($0)); _ = $1.receive(picture); $1.finish(HTTPError(code, url: "", status: -7, "lie"))
        },
      )
    )
  }
  return all
}()

/// A pipeline without anything of the system's.
func pipeline(
  _ loader: any DataLoader,
  _ change: (inout ImagePipeline.Configuration) -> Void = { _ in },
) -> ImagePipeline {
  ImagePipeline(.ephemeral) { configuration in
    configuration.loader = loader
    configuration.retryPolicy = .exponential(maxAttempts: 2, base: .milliseconds(1), limit: .milliseconds(2))
    configuration.diskCache = nil
    change(&configuration)
  }
}

/// Returns what an image is called if it is the picture.
func checked(_ image: Bitmap) throws -> String {
  guard image.width == 3, image.height == 2, image[2, 1] == SIMD4(repeating: 255) else {
    throw Wrong(description: "another picture: \(image.width)x\(image.height)")
  }
  return "the picture"
}

func loaderCases() -> [Case] {
  var all: [Case] = []
  for (name, script) in scripts {
    let loader = LyingLoader(script: script)
    let talkative = LyingLoader(script: script) { TalkativeHandle($0) }
    all.append(Case("loader, \(name), image") { try checked(await pipeline(loader).image(for: address)) })
    all.append(
      Case("loader, \(name), image, talkative handle") {
        let pipeline = pipeline(talkative)
        let task = pipeline.imageTask(for: address)
        task.priority = .low
        return try checked(await task.image)
      }
    )
    all.append(
      Case("loader, \(name), events") {
        for await event in pipeline(loader).imageTask(for: address).events {
          if case .finished(let result) = event { return try checked(result.get().image) }
        }
        throw Wrong(description: "no end")
      }
    )
    all.append(
      Case("loader, \(name), data and cache") {
        let cache = try DiskLike.temporary()
        let pipeline = pipeline(loader) { $0.diskCache = cache }
        _ = try? await pipeline.image(for: address)
        let data = try await pipeline.data(for: address)
        return "\(data.count) bytes"
      }
    )
    all.append(
      Case("loader, \(name), retrying") {
        let retrying = RetryingLoader(
          loader,
          .exponential(maxAttempts: 2, base: .milliseconds(1), limit: .milliseconds(1)),
        )
        let (response, data) = try await retrying.data(for: HTTPRequest(address.absoluteString))
        return "\(response.status), \(data.count) bytes"
      }
    )
    all.append(
      Case("loader, \(name), alone") {
        var request = try HTTPRequest(address.absoluteString)
        request.maxResponseBytes = 1 << 20
        let (response, data) = try await loader.data(for: request)
        guard data.count <= 1 << 20 else { throw Wrong(description: "\(data.count) bytes of a limit of 1 MB") }
        return "\(response.status), \(data.count) bytes"
      }
    )
    all.append(
      Case("loader, \(name), limited") {
        let limited = RateLimitedLoader(loader, RateLimit(requestsPerSecond: 1000, burst: 10))
        let (response, data) = try await limited.data(for: HTTPRequest(address.absoluteString))
        return "\(response.status), \(data.count) bytes"
      }
    )
    all.append(
      Case("loader, \(name), cancelled") {
        let pipeline = pipeline(talkative)
        let task = pipeline.imageTask(for: address)
        task.cancel()
        return try checked(await task.image)
      }
    )
  }
  all.append(
    Case("loader, never ends, cancelled") {
      let task = pipeline(LyingLoader { _ = $1.receive(head($0)) }).imageTask(for: address)
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { task.cancel() }
      return try checked(await task.image)
    }
  )
  return all
}

/// A cache on disk in a folder of its own.
enum DiskLike {
  static func temporary() throws -> any DataCaching {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "lies.\(getpid()).\(UInt64.random(in: 0 ... .max))"
    )
    return try DiskCache(directory: folder, sizeLimit: 1 << 24)
  }
}
