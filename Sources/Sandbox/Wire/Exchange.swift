package import VitrineImaging
import VitrineRuntime

// The messages. A conversation about one image is
//
//     program                         worker
//     memory (input or file, output) …
//     question                 ->
//                              <-     permit: the header, and what it needs
//     memory (output), proceed ->             (or refuse)
//                              <-     done, failed
//
// A worker that needs no more memory than the question allows goes on without asking. It may ask for space at any time,
// and for permission more than once, such as after a thumbnail that could not be used. The bytes of the file, the pixels
// and other long parts are in shared memory; of a large file the worker gets a descriptor that can only be read.
//
// A conversation about one picture to be encoded is
//
//     program                         worker
//     memory (input, output) …
//     encode                   ->             the pixels are in the input
//                              <-     frame   for each frame of an animation, and once more after the last
//     frame                    ->             the pixels are in the input
//                              <-     space
//     memory (output), proceed ->
//                              <-     done, failed
//
// One end waits whenever the other one works.

/// The kinds of messages from a program to its worker.
package enum Command: Int, CaseIterable, Sendable {
  /// A mapping; its descriptor comes with the message.
  case memory
  /// A question about the image in the input.
  case question
  /// The worker may go on, with the mappings that it has now.
  case proceed
  /// The worker must give up the image, and say so.
  case refuse
  /// A picture to be encoded, in the input.
  case encode
  /// The next frame of an animation to be encoded, in the input, or the end of it.
  case frame
}

/// The kinds of messages from a worker to its program.
package enum Reply: Int, CaseIterable, Sendable {
  /// The worker is ready.
  case hello
  /// The header has been read.
  case permit
  /// The output is too small.
  case space
  case done
  case failed
  /// The next frame is wanted.
  case frame
}

/// The purposes of a shared mapping.
package enum MemoryRole: Int, CaseIterable, Sendable {
  /// A page whose first four bytes say whether the image has been cancelled.
  case control
  /// The bytes of the image, which the worker only reads.
  case input
  /// The same as a file, for one question.
  case file
  /// The pixels, and other long parts of an answer.
  case output
}

/// The first message of a worker.
package struct Hello: Equatable, Sendable {
  /// The version of the wire, which changes with any message, and with the kinds of workers.
  package static let version = 8

  package var version = Hello.version
  /// The layers of confinement that the system lacks.
  package var missingLayers: Set<Sandbox.Layer> = []
  /// The reason why the library of the worker's kind cannot be opened; empty if it is open, or there is none.
  package var libraryFailure = ""

  package init() {}
}

/// The memory that a worker asks for after it has read a header.
package struct Needs: Equatable, Sendable {
  /// The facts of the image, or of the requested frame, without the profile.
  package var info = ImageInfo(format: .bitmap, storedWidth: 1, storedHeight: 1)
  /// The bytes that the decode holds, including the result.
  package var memory = 0
  /// The bytes of the answer besides the pixels.
  package var extra = 0

  package init() {}
}

extension Message {
  /// Codes the kind of a message, which comes first.
  package mutating func code<Kind: CaseIterable & Equatable>(kind: inout Kind) throws(Malformed) {
    try code(&kind, "kind of message")
  }

  package mutating func code(_ hello: inout Hello) throws(Malformed) {
    try code(&hello.version, "version")
    guard isWriting || hello.version == Hello.version else { return }
    for layer in Sandbox.Layer.allCases {
      var isMissing = hello.missingLayers.contains(layer)
      try code(&isMissing, "layer")
      if isMissing { hello.missingLayers.insert(layer) }
    }
    try code(&hello.libraryFailure, "library")
  }

  package mutating func code(_ needs: inout Needs) throws(Malformed) {
    try code(&needs.info)
    try code(&needs.memory, "memory", in: 0 ... .max)
    try code(&needs.extra, "length", in: 0...SharedMapping.limit)
  }

  package mutating func code(_ kind: inout DecodeQuestion.Kind) throws(Malformed) {
    let plain: [DecodeQuestion.Kind] = [.info, .metadata, .frameDelays, .embeddedThumbnail, .usesThumbnail, .image]
    var (number, background) = (plain.firstIndex(of: kind) ?? 0, 0)
    var (purpose, showsRows) = (PreviewPurpose.preview, false)
    switch kind {
    case .gray(let level): (number, background) = (plain.count, Int(level))
    case .preview(let known, let rows): (number, purpose, showsRows) = (plain.count + 1, known, rows)
    default: break
    }
    try code(&number, "kind of question", in: 0...plain.count + 1)
    try code(&background, "background", in: 0...255)
    try code(&purpose, "purpose")
    try code(&showsRows, "rows")
    switch number {
    case plain.count: kind = .gray(over: UInt8(background))
    case plain.count + 1: kind = .preview(purpose, showsRows: showsRows)
    default: kind = plain[number]
    }
  }

  /// `allowance` is the number of bytes that a decode may hold without asking.
  package mutating func code(
    _ question: inout DecodeQuestion,
    byteCount: inout Int,
    allowance: inout Int,
  ) throws(Malformed) {
    var (kind, options) = (question.kind, question.options)
    try code(&kind)
    try code(&options)
    try code(&byteCount, "number of bytes", in: 1...SharedMapping.limit)
    try code(&allowance, "allowance", in: 0 ... .max)
    var threads = question.job.threadCount
    try code(&threads, "number of threads", in: 1...DecodeThreads.limit)
    var session = question.session?.number ?? 0
    try code(&session, "session", in: 0 ... .max)
    question = DecodeQuestion(kind, options)
    question.job.threadCount = threads
    if session > 0 { question.session = FrameSession(number: session) }
  }

  package mutating func code(_ role: inout MemoryRole, byteCount: inout Int) throws(Malformed) {
    try code(&role, "kind of memory")
    try code(&byteCount, "number of bytes", in: 1...SharedMapping.limit)
  }
}
