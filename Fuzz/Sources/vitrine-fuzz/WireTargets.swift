import Foundation

@testable import VitrineImaging
@testable import VitrineSandbox

/// A message between a program and its worker: a byte that says which, the length in two bytes, the message, and the
/// shared memory that it refers to.
@Sendable
func wire(_ data: Data) {
  guard data.count > 3 else { return }
  let bytes = Array(data)
  let count = min(Message.limit, (Int(bytes[1]) | Int(bytes[2]) << 8), bytes.count - 3)
  let message = Array(bytes[3..<3 + count])
  if bytes[0] & 0x80 == 0 {
    readReply(message, Array(bytes[(3 + count)...]), kinds[Int(bytes[0]) % kinds.count])
  } else {
    readCommand(message)
  }
}

private let kinds: [DecodeQuestion.Kind] = [
  .info, .metadata, .frameDelays, .embeddedThumbnail, .usesThumbnail, .image, .gray(over: 9),
  .preview(.preview, showsRows: true),
]

/// As a program reads what its worker says.
private func readReply(_ bytes: [UInt8], _ output: [UInt8], _ kind: DecodeQuestion.Kind) {
  var (message, reply) = (Message(reading: bytes), Reply.done)
  guard (try? message.code(kind: &reply)) != nil else { return }
  switch reply {
  case .hello:
    var hello = Hello()
    if (try? message.code(&hello)) != nil { check(hello) { try $0.code(&$1) } }
  case .permit:
    var needs = Needs()
    guard (try? message.code(&needs)) != nil else { return }
    check(needs) { try $0.code(&$1) }
    try? limits().check(needs.info)
  case .space:
    var count = 0
    try? message.code(&count, "length")
  case .frame: break
  case .failed:
    var error = ImageError(.corrupt, "")
    guard (try? message.code(&error)) != nil else { return }
    precondition(!error.detail.unicodeScalars.contains { $0.properties.generalCategory == .control })
  case .done:
    var options = DecodeOptions(size: .pixels(9, 7, .fill))
    options.limits = limits()
    output.withUnsafeBytes { output in
      var fields = AnswerFields(reading: message, Elements(output), DecodeQuestion(kind, options).options)
      let answer = try? fields.code(nil, to: kind, byteCount: 100)
      if case .image(let image?) = answer { precondition(image.bitmap.byteCount <= limits().outputByteCount) }
    }
  }
}

/// As a worker reads what its program says.
private func readCommand(_ bytes: [UInt8]) {
  var (message, command) = (Message(reading: bytes), Command.memory)
  guard (try? message.code(kind: &command)) != nil else { return }
  switch command {
  case .memory:
    var (role, count) = (MemoryRole.control, 0)
    try? message.code(&role, byteCount: &count)
  case .question:
    var (question, count, allowance) = (DecodeQuestion(.info, DecodeOptions()), 0, 0)
    guard (try? message.code(&question, byteCount: &count, allowance: &allowance)) != nil else { return }
    _ = try? question.options.plan(for: ImageInfo(format: .png, storedWidth: 30, storedHeight: 20))
  case .encode:
    var question = EncodeQuestion()
    guard (try? message.code(&question)) != nil else { return }
    check(question) { try $0.code(&$1) }
    precondition(question.pixelByteCount > 0, "no pixels")
  case .frame:
    var frame: EncodeFrame?
    guard (try? message.code(&frame)) != nil else { return }
    check(frame) { try $0.code(&$1) }
  case .proceed, .refuse: break
  }
}

/// What was read is written and read as the same.
private func check<Value: Equatable>(_ value: Value, _ code: (inout Message, inout Value) throws -> Void) {
  var (message, copy) = (Message(), value)
  guard (try? code(&message, &copy)) != nil else { preconditionFailure("what was read cannot be written") }
  var read = Message(reading: message.bytes)
  guard (try? code(&read, &copy)) != nil else { preconditionFailure("what was written cannot be read") }
  precondition(copy == value, "another value after a round trip")
}
