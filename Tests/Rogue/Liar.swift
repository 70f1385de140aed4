import VitrineCodecProcess
import VitrineImaging
import VitrineRuntime

/// A codec process that has been taken over, and answers what no decoder does.
///
/// The name of its file says what.
enum Liar: String, CaseIterable {
  case headerWithoutPixels, headerOfManyPixels, headerThatNeverEnds, headerWithMore, unknownError, unknownAnswer
  case rowsOfManyPixels, rowsThatAreNone, rowsOfNoNumber, moreRowsThanAsked, noRows, endlessMessage

  func serve() {
    let wire = Wire(0)
    while let request = try? wire.receive() {
      var message = request
      guard let operation = try? message.integer("operation") else { return }
      if operation != Operation.read.rawValue {
        // The number of the bytes that follow comes last.
        var rest = Message(bytes: Array(request.bytes.suffix(8)))
        guard let count = try? rest.integer("bytes"), (try? wire.receive(count: count)) != nil else { return }
      }
      guard (try? wire.send(answer(to: Operation(rawValue: operation)))) != nil else { return }
    }
  }

  private func answer(to operation: Operation?) -> Message {
    var answer = Message()
    switch (self, operation) {
    case (.unknownAnswer, _): answer.add(2)
    case (.unknownError, _):
      answer.add(Answer.failed.rawValue)
      for text in ["no such error", "", "message"] { answer.add(text) }
    case (.endlessMessage, _): answer.add([UInt8](repeating: 0, count: 65 << 20))
    case (_, .info), (_, .frameInfo), (_, nil):
      answer.add(Answer.done.rawValue)
      answer.add(header)
    case (_, .open):
      answer.add(Answer.done.rawValue)
      answer.add(rows)
    case (_, .read):
      answer.add(Answer.done.rawValue)
      answer.add(self == .noRows ? 0 : 1000)
      answer.add(false)
    }
    return answer
  }

  private var header: [UInt8] {
    var content = Message()
    switch self {
    case .headerWithoutPixels: content.add(ImageInfo(format: .tiff, storedWidth: 0, storedHeight: 9))
    case .headerOfManyPixels: content.add(ImageInfo(format: .tiff, storedWidth: 1 << 31, storedHeight: 9))
    case .headerThatNeverEnds:
      var info = ImageInfo(format: .tiff, storedWidth: 7, storedHeight: 9)
      info.duration = .nan
      content.add(info)
    default: content.add(ImageInfo(format: .tiff, storedWidth: 7, storedHeight: 9))
    }
    if self == .headerWithMore { content.add(1) }
    return content.bytes
  }

  private var rows: [UInt8] {
    var content = Message()
    content.add(self == .rowsOfManyPixels ? Int(Int32.max) : self == .rowsThatAreNone ? 0 : 7)
    content.add(9)
    content.add(self == .rowsOfNoNumber ? .nan : 7.0)
    content.add(9.0)
    content.add(false)
    return content.bytes
  }
}
