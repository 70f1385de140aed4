package import VitrineImaging
import VitrineRuntime

/// A message that breaks the rules of the wire: the process at the other end has been taken over, or is another program.
package struct Malformed: Error {
  /// The field that is missing or impossible.
  package let field: String
}

/// A message over the socket, written and read in the same order.
///
/// Both ends are the same build on the same machine, so there is no byte order and no version to agree on. Neither trusts
/// the other: what is missing, out of its range or left over is an error.
package struct Message {
  package private(set) var bytes: [UInt8] = []
  private var offset = 0

  package init(bytes: [UInt8] = []) { self.bytes = bytes }

  package mutating func add(_ number: Int) {
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  package mutating func add(_ number: Double) { add(Int(bitPattern: UInt(number.bitPattern))) }

  package mutating func add(_ flag: Bool) { add(flag ? 1 : 0) }

  package mutating func add(_ text: String) { add(Array(text.utf8)) }

  package mutating func add(_ content: [UInt8]) {
    add(content.count)
    bytes += content
  }

  package mutating func integer(
    _ field: String,
    in range: ClosedRange<Int> = .min ... .max,
  ) throws(Malformed) -> Int {
    guard bytes.count - offset >= 8 else { throw Malformed(field: field) }
    let number = (0..<8).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
    offset += 8
    guard range.contains(number) else { throw Malformed(field: field) }
    return number
  }

  /// Reads a number, which is finite.
  package mutating func double(
    _ field: String,
    in range: ClosedRange<Double> = -.greatestFiniteMagnitude ... .greatestFiniteMagnitude,
  ) throws(Malformed) -> Double {
    let number = Double(bitPattern: UInt64(UInt(bitPattern: try integer(field))))
    guard range.contains(number) else { throw Malformed(field: field) }
    return number
  }

  package mutating func flag(_ field: String) throws(Malformed) -> Bool { try integer(field, in: 0...1) == 1 }

  package mutating func text(_ field: String) throws(Malformed) -> String {
    guard let text = String(validating: try content(field), as: UTF8.self) else { throw Malformed(field: field) }
    return text
  }

  package mutating func content(_ field: String) throws(Malformed) -> [UInt8] {
    let count = try integer(field, in: 0...max(0, bytes.count - offset - 8))
    defer { offset += count }
    return Array(bytes[offset..<offset + count])
  }

  /// Checks that nothing is left.
  package func end() throws(Malformed) {
    guard offset == bytes.count else { throw Malformed(field: "length") }
  }
}

extension Message {
  package mutating func add(_ limits: DecodeLimits) {
    for number in [
      limits.pixelCount, limits.streamedPixelCount, limits.side, limits.outputByteCount, limits.frameCount,
      limits.warningCount, limits.metadataByteCount, limits.composedPixelCount, limits.memoryByteCount,
    ] { add(number) }
  }

  package mutating func limits() throws(Malformed) -> DecodeLimits {
    var limits = DecodeLimits()
    limits.pixelCount = try integer("limit of pixels")
    limits.streamedPixelCount = try integer("limit of streamed pixels")
    limits.side = try integer("limit of a side")
    limits.outputByteCount = try integer("limit of the output")
    limits.frameCount = try integer("limit of frames")
    limits.warningCount = try integer("limit of warnings")
    limits.metadataByteCount = try integer("limit of metadata")
    limits.composedPixelCount = try integer("limit of composed pixels")
    limits.memoryByteCount = try integer("limit of memory")
    return limits
  }

  package mutating func add(_ info: ImageInfo) {
    add(info.storedWidth)
    add(info.storedHeight)
    add(info.orientation.rawValue)
    add(info.frameCount)
    add(info.duration)
    add(info.hasAlpha)
    add(info.bitsPerComponent)
    add(info.streamsRows)
    add(info.isVector)
    add(info.workingByteCount ?? -1)
    add(info.colorProfile != nil)
    add(info.colorProfile.map { Array($0.data) } ?? [])
  }

  package mutating func info(of format: ImageFormat) throws(Malformed) -> ImageInfo {
    let (width, height) = (try integer("width", in: Self.sides), try integer("height", in: Self.sides))
    guard let orientation = Orientation(rawValue: try integer("orientation")) else {
      throw Malformed(field: "orientation")
    }
    var info = ImageInfo(format: format, storedWidth: width, storedHeight: height, orientation: orientation)
    info.frameCount = try integer("number of frames", in: Self.sides)
    info.duration = try double("duration", in: 0 ... .greatestFiniteMagnitude)
    info.hasAlpha = try flag("alpha")
    info.bitsPerComponent = try integer("number of bits", in: 1...64)
    info.streamsRows = try flag("kind of rows")
    info.isVector = try flag("kind of picture")
    let workingByteCount = try integer("memory", in: -1 ... .max)
    info.workingByteCount = workingByteCount < 0 ? nil : workingByteCount
    let hasProfile = try flag("profile")
    let profile = try content("profile")
    info.colorProfile = hasProfile ? ColorProfile(data: Data(profile)) : nil
    return info
  }

  /// The lengths of a side that any decoder can deliver.
  package static let sides = 1...Int(Int32.max)

  package mutating func add(_ error: ImageError) {
    add(error.code.description)
    add(error.limit?.description ?? "")
    add(error.detail)
  }

  package mutating func error(_ format: ImageFormat) throws(Malformed) -> ImageError {
    let codes: [ImageError.Code] = [
      .unrecognised, .unsupported, .truncated, .corrupt, .overLimit, .invalidSize, .noSuchFrame, .outOfTime, .cancelled,
    ]
    let name = try text("kind of error")
    guard let code = codes.first(where: { $0.description == name }) else { throw Malformed(field: "kind of error") }
    let limit = DecodeLimits.Name(try text("exceeded limit"))
    return ImageError(code, format: format, limit: limit, try text("message"))
  }
}

/// The operation of a request to a codec process.
package enum Operation: Int {
  /// The header of an image.
  case info
  /// The facts of one frame.
  case frameInfo
  /// Opens a frame for reading rows.
  case open
  /// Reads the next rows of the frame opened last.
  case read
}

/// The first field of an answer.
package enum Answer: Int {
  case done
  case failed
}
