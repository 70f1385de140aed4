import Foundation
import Testing
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport

/// The built `vitrine`, run as its user would, in a folder of its own that is removed afterwards.
final class Tool {
  struct Outcome {
    let status: Int32
    /// Standard output as it is.
    let data: Data
    let errors: String

    var output: String { String(decoding: data, as: UTF8.self) }

    /// The lines of standard output as JSON objects.
    var json: [[String: Any]] {
      get throws {
        try output.split(separator: "\n").map { line in
          try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
      }
    }
  }

  private let files: TemporaryFolder
  private let cacheFiles: TemporaryFolder

  init() throws { (files, cacheFiles) = (try TemporaryFolder(), try TemporaryFolder()) }

  var folder: URL { files.url }

  /// The default folder for caches; beside the other folder, so that this holds only what was asked for.
  var caches: URL { cacheFiles.file("caches") }

  /// The tool in its folder, with caches of its own and never those of whoever runs the tests.
  private func makeLaunch(_ arguments: [String], script: String? = nil) throws -> Launch {
    Launch(
      executable: script == nil ? try Self.executable() : URL(filePath: "/bin/sh"),
      arguments: script.map { ["-c", $0] } ?? arguments,
      folder: folder,
      environment: ProcessInfo.processInfo.environment.merging(
        ["XDG_CACHE_HOME": caches.path, "no_proxy": "127.0.0.1", "vitrine": try Self.executable().path]
      ) { $1 },
    )
  }

  private static func executable() throws -> URL {
    URL(filePath: try #require(BuiltProgram.path("vitrine")))
  }

  func run(_ arguments: String..., input: Data? = nil) async throws -> Outcome {
    try await run(arguments, input: input)
  }

  func run(_ arguments: [String], input: Data? = nil) async throws -> Outcome {
    try await run(try makeLaunch(arguments), input)
  }

  /// Runs a script of the shell, in which `"$vitrine"` is the tool; for what only a shell can say, such as names in
  /// bytes.
  func shell(_ script: String, input: Data? = nil) async throws -> Outcome {
    try await run(try makeLaunch([], script: script), input)
  }

  private func run(_ launch: Launch, _ input: Data?) async throws -> Outcome {
    // Files and not pipes: nothing can fill up and wait.
    let paths = ["in", "out", "err"].map { folder.appending(path: ".std\($0)-\(UUID().uuidString)") }
    try (input ?? Data()).write(to: paths[0])
    for path in paths.dropFirst() { try Data().write(to: path) }
    let handles = [
      try FileHandle(forReadingFrom: paths[0]), try FileHandle(forWritingTo: paths[1]),
      try FileHandle(forWritingTo: paths[2]),
    ]
    var launch = launch
    (launch.input, launch.output, launch.errors) = (.file(handles[0]), .file(handles[1]), .file(handles[2]))
    let process = try Running(launch)
    for handle in handles { try handle.close() }
    await process.waitUntilExit()
    let (output, errors) = (try Data(contentsOf: paths[1]), try Data(contentsOf: paths[2]))
    for path in paths { try FileManager.default.removeItem(at: path) }
    return Outcome(
      status: process.terminationStatus,
      data: output,
      errors: String(decoding: errors, as: UTF8.self),
    )
  }

  /// Starts it without waiting for its end.
  func start(_ arguments: String..., input: Pipe, output: Pipe) throws -> Running {
    try start(arguments, input: input, output: output)
  }

  func start(_ arguments: [String], input: Pipe? = nil, output: Pipe? = nil) throws -> Running {
    var launch = try makeLaunch(arguments)
    launch.input = input.map(Launch.Stream.pipe) ?? .nothing
    launch.output = output.map(Launch.Stream.pipe) ?? .nothing
    return try Running(launch)
  }

  /// Starts a script of the shell; see ``shell(_:input:)``.
  func start(script: String, input: Pipe, output: Pipe) throws -> Running {
    var launch = try makeLaunch([], script: script)
    (launch.input, launch.output) = (.pipe(input), .pipe(output))
    return try Running(launch)
  }

  /// Starts it at a terminal, which is its standard error, and its standard output where that is said.
  func start(_ arguments: [String], at terminal: Terminal, withOutput: Bool = false) throws -> Running {
    var launch = try makeLaunch(arguments)
    let handle = try terminal.takeHandle()
    launch.output = withOutput ? .file(handle) : .nothing
    launch.errors = .file(handle)
    let running = try Running(launch)
    // Open in the tool only, so that what is read comes to an end with it.
    try handle.close()
    return running
  }

  /// What is in the folder, hidden files too.
  func files(_ path: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path).sorted()
  }

  func data(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

  func image(_ name: String) throws -> ImageContainer { try DecoderRegistry.standard.decode(try data(name)) }

  func write(_ data: Data, to name: String) throws { try files.write(data, to: name) }

  /// Copies a shipped photograph into the folder.
  func photograph(_ name: String, as copy: String) throws {
    try write(Photograph.data(name), to: copy)
  }
}

extension Bitmap {
  static func gradient(width: Int, height: Int, alpha: UInt8 = 255) -> Bitmap {
    unsafe Bitmap(width: width, height: height, alpha: .straight) { pixels in
      for index in 0..<width * height {
        // `pixels` holds four bytes for each.
        unsafe pixels[index * 4] = UInt8(index % width * 255 / max(1, width - 1))
        unsafe pixels[index * 4 + 1] = UInt8(index / width * 255 / max(1, height - 1))
        unsafe pixels[index * 4 + 2] = 128
        unsafe pixels[index * 4 + 3] = alpha
      }
    }
  }
}
