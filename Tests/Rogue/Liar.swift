import CVitrineSandbox
import VitrineImaging
import VitrineRuntime
import VitrineSandbox

/// A worker that has been taken over, and answers what no worker does.
///
/// The name of its file says what. It is not confined: what the program does about it is what counts.
enum Liar: String, CaseIterable {
  // At its start.
  case otherVersion, noHello, helloWithMore
  // Before an answer.
  case longMessage, emptyMessage, unknownMessage, secondHello, permitsWithoutEnd, impossibleHeader, hugeHeader
  case largeHeader, deafToRefusal, tooMuchSpace, allSpace, spaceForALargerOne, moreAndMoreSpace
  case unknownError, errorWithControls
  // The answer.
  case noImage, otherSize, otherShare, pixelsElsewhere, pixelsBehindTheEnd, profileElsewhere, moreGains, longer, shorter
  // The answer to a picture to be encoded.
  case wantsFrames, endlessFile, fileBehindTheEnd, emptyFile
  // With the mappings.
  case truncates, grows, unseals, rewrites, honest

  func serve() {
    let channel = Channel(0)
    var hello = Hello()
    switch self {
    case .noHello: while true { _ = poll(nil, 0, 1000) }
    case .otherVersion: hello.version = 77
    default: break
    }
    send(channel, .hello) { (message) throws(Malformed) in
      try message.code(&hello)
      if self == .helloWithMore { try message.add(5) }
    }
    var output: SharedMapping?
    while case .success(let received) = channel.receiveWithDescriptor() {
      var message = received.message
      var command = Command.memory
      guard (try? message.code(kind: &command)) != nil else { return }
      switch command {
      case .memory:
        var (role, byteCount) = (MemoryRole.control, 0)
        guard (try? message.code(&role, byteCount: &byteCount)) != nil else { return }
        if role == .output {
          output = SharedMapping(received.descriptor, byteCount: byteCount, isWritable: true)
          tamper(received.descriptor, byteCount)
        }
        close(received.descriptor)
      case .question: begin(channel, output)
      case .encode: encode(channel, output)
      case .frame: break
      case .proceed:
        answer(channel, output)
        if self == .rewrites, let output { rewrite(output) }
      case .refuse:
        if self == .deafToRefusal { while true { _ = poll(nil, 0, 1000) } }
        send(channel, .failed) { (message) throws(Malformed) in
          var error = ImageError(.cancelled, "cancelled")
          try message.code(&error)
        }
      }
    }
  }

  /// Acts on a question.
  private func begin(_ channel: Channel, _ output: SharedMapping?) {
    switch self {
    case .longMessage: sendBytes(channel, 5000)
    case .emptyMessage: sendBytes(channel, 0)
    case .unknownMessage: sendBytes(channel, 8)
    case .secondHello: send(channel, .hello)
    case .permitsWithoutEnd: for _ in 0..<10 { permit(channel) }
    // For a picture of a size that nobody has permitted.
    case .spaceForALargerOne:
      send(channel, .space) { (message) throws(Malformed) in try message.add(200 << 20) }
    // The answer to each is a mapping, which it keeps.
    case .moreAndMoreSpace:
      for size in 2..<12 { send(channel, .space) { (message) throws(Malformed) in try message.add(size << 20) } }
    case .tooMuchSpace:
      send(channel, .space) { (message) throws(Malformed) in try message.add(1 << 40) }
    case .allSpace: send(channel, .space) { (message) throws(Malformed) in try message.add(.max) }
    case .unknownError:
      send(channel, .failed) { (message) throws(Malformed) in
        var (name, format) = ("no such error", false)
        try message.code(&name, "")
        try message.code(&format, "")
        try message.code(&name, "")
        try message.code(&name, "")
      }
    case .errorWithControls:
      send(channel, .failed) { (message) throws(Malformed) in
        var error = ImageError(.corrupt, format: .qoi, "\u{1B}[2Jcleared\u{7}\n\u{202E}")
        try message.code(&error)
      }
    default: permit(channel)
    }
  }

  /// Acts on a picture to be encoded.
  private func encode(_ channel: Channel, _ output: SharedMapping?) {
    switch self {
    case .wantsFrames: send(channel, .frame)
    case .endlessFile: send(channel, .space) { (message) throws(Malformed) in try message.add(1 << 39) }
    case .fileBehindTheEnd:
      send(channel, .done) { (message) throws(Malformed) in try message.add((output?.byteCount ?? 0) + 1) }
    case .emptyFile: send(channel, .done) { (message) throws(Malformed) in try message.add(0) }
    default: begin(channel, output)
    }
  }

  private func permit(_ channel: Channel) {
    var needs = Needs()
    let side = self == .impossibleHeader ? 0 : self == .hugeHeader || self == .deafToRefusal ? Int(Int32.max) : 8
    needs.info = ImageInfo(format: .qoi, storedWidth: side, storedHeight: side)
    if self == .largeHeader { needs.info = ImageInfo(format: .qoi, storedWidth: 1 << 30, storedHeight: 1 << 30) }
    send(channel, .permit) { (message) throws(Malformed) in try message.code(&needs) }
  }

  private func answer(_ channel: Channel, _ output: SharedMapping?) {
    guard let output else { return }
    // Gray, as far as the picture goes.
    output.elements.extracting(0..<256).update(repeating: 128)
    send(channel, .done) { (message) throws(Malformed) in
      var isThere = self != .noImage
      try message.code(&isThere, "image")
      guard isThere else { return }
      var info = ImageInfo(format: .qoi, storedWidth: 8, storedHeight: 8)
      try message.code(&info)
      try message.add(self == .otherSize ? 9 : 8)
      try message.add(8)
      try message.add(self == .pixelsElsewhere ? 1 << 39 : self == .pixelsBehindTheEnd ? output.byteCount - 8 : 0)
      try message.add(self == .otherShare ? 255 : 256)
      try message.add(1)
      try message.add(self == .profileElsewhere ? 1 : 0)
      if self == .profileElsewhere {
        try message.add(output.byteCount)
        try message.add(100)
      }
      guard self != .shorter else { return }
      // Neither damage nor a gain map, unless it has more pixels than the picture.
      try message.add(0)
      try message.add(self == .moreGains ? 1 : 0)
      if self == .moreGains { try message.add(9) }
      if self == .longer { try message.add(0) }
    }
  }

  /// Tries to change the size of the memory that the program reads.
  private func tamper(_ descriptor: Int32, _ byteCount: Int) {
    switch self {
    case .truncates: ftruncate(descriptor, 0)
    case .grows: ftruncate(descriptor, byteCount * 2)
    // F_ADD_SEALS with F_SEAL_WRITE.
    case .unseals: _ = fcntl(descriptor, 1033, 8)
    default: break
    }
  }

  /// Changes the pixels again and again after the answer.
  private func rewrite(_ output: SharedMapping) {
    for value in 0..<20_000 {
      output.elements.extracting(0..<256).update(repeating: UInt8(truncatingIfNeeded: value))
    }
  }

  private func send(_ channel: Channel, _ kind: Reply, _ fields: (inout Message) throws(Malformed) -> Void = { _ in }) {
    var (message, kind) = (Message(), kind)
    try? message.code(kind: &kind)
    try? fields(&message)
    _ = channel.send(message, check: {})
  }

  private func sendBytes(_ channel: Channel, _ count: Int) {
    let bytes = [UInt8](repeating: 200, count: count)
    _ = unsafe VitrineRuntime.send(channel.socket, bytes, count, Int32(MSG_NOSIGNAL))
  }
}

extension Message {
  fileprivate mutating func add(_ number: Int) throws(Malformed) {
    var number = number
    try code(&number, "")
  }
}
