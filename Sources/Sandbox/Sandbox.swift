public import VitrineImaging
public import VitrineRuntime

/// Decoding in other processes that can do nothing but decode.
///
/// Image decoders are C libraries that read the files of strangers, and the most attacked code there is. In a sandbox a
/// file that takes over its decoder has taken over a process without files, network, other programs or rights, which is
/// killed when it takes too long:
/// ```swift
/// let pipeline = try ImagePipeline { $0.decoders = try .sandboxed() }
/// ```
/// The processes run the program `vitrine-codecs`, a product of this package that is installed beside your program.
/// They decode all formats that Vitrine knows, whichever codecs your own program is built with, and give the same pixels
/// as decoding in your process. If a decoder crashes, hangs or lies, one image fails with an `ImageError`; others are
/// not affected.
///
/// <doc:ThreatModel> says what each layer stops, and what remains.
public final class Sandbox: Sendable {
  /// The formats that a sandbox decodes.
  public enum Formats: String, Sendable, Hashable, CaseIterable {
    /// All formats.
    case all
    /// The formats whose codecs are products of their own, such as AVIF and SVG; the others are decoded in the program.
    case external
    /// No format: everything is decoded in the program.
    case none
  }

  /// A restriction of the processes, see <doc:ThreatModel>.
  public enum Layer: String, Sendable, Hashable, CaseIterable {
    /// Descriptors of the program are closed.
    case descriptors
    /// No core dump, no files of their own, and a maximum of descriptors.
    case limits
    /// No new privileges, and no access to their memory for other processes.
    case privileges
    /// Namespaces: a network, System V IPC and host name of their own, all empty.
    case namespaces
    /// Landlock: no files, no TCP ports, no signals to other processes.
    case landlock
    /// seccomp: only the system calls that decoders need.
    case seccomp

    package static func list(_ layers: some Sequence<Layer>) -> String {
      layers.map(\.rawValue).sorted().joined(separator: ", ")
    }
  }

  /// The settings of a sandbox.
  public struct Configuration: Sendable {
    /// The formats; defaults to ``Formats/all``.
    public var formats = Formats.all
    /// The path of the program `vitrine-codecs`; defaults to `nil`: in the folder of the running program.
    public var program: String?
    /// The maximum number of images that are decoded at once; as many drawings, and as many pictures to be encoded.
    ///
    /// Defaults to the number of cores. Each has a process; further images wait. A process opens the library of one
    /// external format, and the last process of each format that was needed stays.
    public var processes = CoreBudget.machine.count
    /// A Boolean value that indicates whether a process is started before it is needed.
    ///
    /// Defaults to `true`. Otherwise the first image waits for its process.
    public var startsAhead = true
    /// The number of images after which a process is replaced by a new one.
    ///
    /// Defaults to 1,000. With 1, a file that takes over its decoder never sees another image. Each frame of an
    /// animation counts, so that with 1 a late frame costs as much as all those before it.
    public var imagesPerProcess = 1000
    /// The memory of a process, in bytes, above which it is replaced after its image.
    ///
    /// Defaults to 256 MiB.
    public var bytesPerProcess = 256 << 20
    /// The maximum time to decode one image, also where `DecodeLimits.timeLimit` sets none.
    ///
    /// Defaults to 60 seconds. A process that exceeds it is killed.
    public var timeLimit = Duration.seconds(60)
    /// The time for which a file whose decoder crashed or was killed is refused.
    ///
    /// Defaults to 10 minutes; zero for not at all. One that took too long since the machine was busy is not refused.
    public var refusalTime = Duration.seconds(600)
    /// The layers without which no image is decoded.
    ///
    /// Defaults to none: a layer that the system lacks is left out, and listed in ``Sandbox/missingLayers``.
    public var requiredLayers: Set<Layer> = []

    /// The time for which a process may reach its next check after it was told to stop.
    ///
    /// Defaults to 100 ms. A process that exceeds it is killed.
    package var grace = Duration.milliseconds(100)
    /// The part of its time limit that an image must have used the processor for to be refused from then on.
    ///
    /// Others were stopped since the machine was busy.
    package var slowShare = 0.75

    /// Makes the default settings.
    public init() {}
  }

  /// The numbers of what a sandbox has done.
  public struct Counts: Sendable, Hashable {
    /// The processes that there are, also those that are being started.
    public internal(set) var processes = 0
    /// The processes that were started.
    public internal(set) var started = 0
    /// The images that were answered, also with an error, and those that were encoded.
    public internal(set) var images = 0
    /// The processes that crashed, were killed from outside, or broke the rules.
    public internal(set) var crashed = 0
    /// The processes that were killed because they did not stop.
    public internal(set) var stopped = 0
    /// The processes that were replaced after many images or much memory.
    public internal(set) var recycled = 0
    /// The images that were refused because they had ended a process before.
    public internal(set) var refused = 0
  }

  /// The settings.
  public let configuration: Configuration
  private let decoder: SandboxDecoder

  /// Makes a sandbox, and starts its first process in the background.
  ///
  /// If layers are required, it waits for that process and checks them, for about 10 ms.
  ///
  /// - Parameter configure: Changes the settings.
  /// - Throws: ``SandboxError`` if the program is missing or cannot be started, or a required layer is missing.
  public init(_ configure: (inout Configuration) -> Void = { _ in }) throws(SandboxError) {
    var configuration = Configuration()
    configure(&configuration)
    configuration.processes = max(1, configuration.processes)
    self.configuration = configuration
    let path = try Self.program(configuration)
    let pool = WorkerPool(path, configuration)
    decoder = SandboxDecoder(
      formats: Self.formats(configuration.formats),
      pool: pool,
      killers: Killers(lifetime: configuration.refusalTime),
      timeLimit: configuration.timeLimit,
      slowShare: configuration.slowShare,
      grace: configuration.grace,
    )
    guard configuration.formats != .none else { return }
    if !configuration.requiredLayers.isEmpty {
      do throws(ImageError) {
        pool.giveBack(try pool.take(.pictures) { () throws(ImageError) in })
      } catch {
        throw SandboxError(
          missingLayers.isDisjoint(with: configuration.requiredLayers) ? .notStarted : .layerMissing,
          error.detail,
        )
      }
    } else if configuration.formats == .all {
      pool.startAhead(.pictures)
    }
  }

  /// The decoders of this sandbox, and those in the program for the other formats.
  public var decoders: DecoderRegistry {
    var decoders = configuration.formats == .all ? DecoderRegistry([]) : .standard
    if configuration.formats != .none { decoders.add(decoder) }
    return decoders
  }

  /// The encoders of the program, and of this sandbox for external formats, such as AVIF.
  ///
  /// They run in processes of their own, as many as decode at most. `vitrine-codecs` brings their libraries, so that the
  /// program needs none. They have no time limit.
  public var encoders: EncoderRegistry {
    var encoders = EncoderRegistry.standard
    for format in ImageFormat.writtenExternally {
      if let encoder = encoder(of: format) { encoders.add(encoder) }
    }
    return encoders
  }

  /// Returns the encoder of a format that runs in the sandbox; `nil` if there is none.
  package func encoder(of format: ImageFormat) -> SandboxEncoder? {
    guard configuration.formats != .none, ImageFormat.writtenExternally.contains(format) else { return nil }
    return SandboxEncoder(format, decoder.pool)
  }

  /// The path of the program that decodes.
  package var programPath: ByteString { decoder.pool.path }

  /// Returns the reason why images of an external format cannot be decoded; `nil` if its library is open in a process.
  ///
  /// Starts a process if there is none, and blocks until it is ready.
  package func failure(of format: ImageFormat) -> LibraryFailure? {
    do throws(ImageError) {
      let worker = try decoder.pool.take(WorkerKind(decoding: format)) { () throws(ImageError) in }
      defer { decoder.pool.giveBack(worker) }
      return worker.hello.libraryFailure.isEmpty ? nil : LibraryFailure(worker.hello.libraryFailure)
    } catch {
      return LibraryFailure(error.detail)
    }
  }

  /// The numbers of what the sandbox has done so far.
  public var counts: Counts { decoder.pool.counts }

  /// The identifiers of the processes that are ready.
  package var processIdentifiers: [pid_t] { decoder.pool.processIdentifiers }

  /// The layers that the system lacks, as far as the processes that were started have found out.
  public var missingLayers: Set<Layer> { decoder.pool.missingLayers }

  private static func formats(_ formats: Formats) -> [ImageFormat] {
    switch formats {
    case .all: DecoderRegistry.standard.formats + ImageFormat.external
    case .external: ImageFormat.external
    case .none: []
    }
  }

  private static func program(_ configuration: Configuration) throws(SandboxError) -> ByteString {
    let path = configuration.program.map { ByteString($0) } ?? StartedProgram.folder + "vitrine-codecs"
    guard configuration.formats != .none else { return path }
    guard unsafe path.withCString({ unsafe access($0, X_OK) }) == 0 else {
      let reason = unsafe String(cString: strerror(errno))
      throw SandboxError(
        .programMissing,
        "the program \(path.readable), which decodes and encodes images, cannot be used: \(reason). Install vitrine-codecs beside "
          + "your program, or set Configuration.program",
      )
    }
    return path
  }
}

/// The reason why a sandbox could not be made.
public struct SandboxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of an error, for comparison.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    /// `vitrine-codecs` is not there, or cannot be executed.
    public static let programMissing = Code(description: "programMissing")
    /// `vitrine-codecs` cannot be started, or is of another version.
    public static let notStarted = Code(description: "notStarted")
    /// The system lacks a layer that ``Sandbox/Configuration/requiredLayers`` requires.
    public static let layerMissing = Code(description: "layerMissing")
  }

  /// The kind of the error.
  public let code: Code
  /// A message for a person, without an initial capital or a full stop.
  public let detail: String

  init(_ code: Code, _ detail: String) { (self.code, self.detail) = (code, detail) }

  /// The ``detail``.
  public var description: String { detail }
}

extension SandboxError: LocalizedError {
  /// The message for a person.
  public var errorDescription: String? { "Images cannot be decoded in a sandbox: \(detail)" }
}

extension DecoderRegistry {
  /// The decoders of a new ``Sandbox``.
  ///
  /// The processes end with the last copy of the registry.
  ///
  /// - Parameter configure: Changes the settings of the sandbox.
  /// - Returns: The decoders.
  /// - Throws: ``SandboxError``, as ``Sandbox/init(_:)``.
  public static func sandboxed(
    _ configure: (inout Sandbox.Configuration) -> Void = { _ in }
  ) throws(SandboxError) -> DecoderRegistry {
    try Sandbox(configure).decoders
  }
}
