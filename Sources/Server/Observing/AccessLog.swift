import VitrineRuntime

/// Writes a line of JSON for each request, on a thread of its own.
///
/// Lines are written together, 100 ms after the first one or once there are 64 KB: waking the thread for each would cost
/// more than the line. Each of the listener's threads has lines of its own, so that none waits for another; the lines of one
/// thread are in order. If the reader of the log is slow, lines are dropped, and their number is written instead.
final class AccessLog: Sendable {
  /// The lines of one thread.
  private struct Part {
    var lines: [UInt8] = []
    var dropped = 0
  }

  private struct State {
    /// The time at which the lines are written; `nil` without lines.
    var due: Duration?
    var isEnding = false
    var hasEnded = false
  }

  private static let limit = 4 << 20
  private static let batch = 64 << 10

  private let parts: [Lock<Part>]
  private let monitor = Monitor(State())

  /// Starts a log into an open file; `nil` if the system refuses a thread.
  init?(file: CInt, threads: Int = 1) {
    let parts = (0..<max(1, threads)).map { _ in Lock(Part()) }
    self.parts = parts
    let body = { @Sendable [monitor] in Self.write(parts, monitor, to: file) }
    guard startThread(named: "access-log", stackSize: 256 << 10, body) else { return nil }
  }

  /// Adds a line, of a thread of the listener; does not block.
  func add(_ line: String, of thread: Int = 0) {
    let limit = Self.limit / parts.count
    let due: Duration? = parts[thread % parts.count].withLock { part in
      guard part.lines.count + line.utf8.count < limit else {
        part.dropped += 1
        return nil
      }
      let before = part.lines.count
      part.lines += line.utf8
      part.lines.append(10)
      if before < Self.batch, part.lines.count >= Self.batch { return .zero }
      return before == 0 ? .milliseconds(100) : nil
    }
    guard let due else { return }
    let time = systemUptime() + due
    let isEarlier = monitor.withLock { state in
      guard time < state.due ?? .seconds(Int64.max) else { return false }
      state.due = time
      return true
    }
    if isEarlier { monitor.signal() }
  }

  /// Writes the rest and ends; blocks until that is done, or for as long as a reader that has stopped is waited for.
  func end(within time: Duration = .seconds(2)) {
    let end = systemUptime() + time
    monitor.withLock { $0.isEnding = true }
    monitor.broadcast()
    monitor.wait { $0.hasEnded || systemUptime() >= end ? .leave(()) : .waitUntil(end) }
  }

  private static func write(_ parts: [Lock<Part>], _ monitor: Monitor<State>, to file: CInt) {
    while true {
      let isLast = monitor.wait { state -> MonitorStep<Bool> in
        guard !state.isEnding else { return .leave(true) }
        guard let due = state.due else { return .wait }
        guard systemUptime() >= due else { return .waitUntil(due) }
        state.due = nil
        return .leave(false)
      }
      for part in parts { write(takeLines(part), to: file) }
      guard isLast else { continue }
      monitor.withLock { $0.hasEnded = true }
      monitor.broadcast()
      return
    }
  }

  private static func takeLines(_ part: Lock<Part>) -> [UInt8] {
    part.withLock { part in
      if part.dropped > 0 {
        part.lines += "{\"dropped\":\(part.dropped)}\n".utf8
        part.dropped = 0
      }
      defer { part.lines.removeAll(keepingCapacity: part.lines.capacity < 1 << 16) }
      return part.lines
    }
  }

  private static func write(_ lines: [UInt8], to file: CInt) {
    var rest = lines[...]
    while !rest.isEmpty {
      // The slice outlives the call.
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      rest = rest.dropFirst(count)
    }
  }
}

extension ExchangeOutcome {
  /// The line of the log.
  func line(_ exchange: Exchange, at time: Date) -> String {
    var line = "{\"time\":\"\(HTTPTime.iso(time))\",\"id\":\"\(exchange.id)\",\"client\":\(JSONText.quoted(client))"
    line += ",\"method\":\(JSONText.quoted(method)),\"target\":\(JSONText.quoted(exchange.target))"
    line +=
      ",\"status\":\(answer.status),\"bytes\":\(answer.body?.count ?? 0),\"ms\":\(JSONText.milliseconds(duration))"
    if let trace = exchange.trace { line += ",\"trace\":\"\(trace.trace)\"" }
    if let tier = answer.tier { line += ",\"tier\":\"\(tier)\"" }
    if !isComplete { line += ",\"complete\":false" }
    if let code = answer.errorCode { line += ",\"code\":\"\(code)\"" }
    if let reason = answer.reason { line += ",\"error\":\(JSONText.quoted(reason))" }
    return line + "}"
  }
}

/// Texts of JSON.
enum JSONText {
  /// Returns a string in quotes; what strangers sent may have anything in it.
  static func quoted(_ text: String) -> String {
    // Few texts have anything to escape.
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }) { return "\"\(text)\"" }
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5C: quoted += "\\\(scalar)"
      // Those of eight bits control terminals, too.
      case 0..<0x20, 0x7F..<0xA0:
        quoted += (scalar.value < 16 ? "\\u000" : "\\u00") + String(scalar.value, radix: 16)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// Returns a duration in milliseconds, with three decimal places.
  static func milliseconds(_ duration: Duration) -> String {
    let micros = max(0, duration.nanoseconds / 1000)
    let rest = String(micros % 1000)
    return "\(micros / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}

/// Dates as text, for which FoundationEssentials' styles are slow.
enum HTTPTime {
  /// Returns a date as `2026-11-25T12:34:56.789Z`.
  static func iso(_ date: Date) -> String {
    let (date, millisecond) = parts(date)
    return "\(date.year)-\(two(date.month))-\(two(date.day))T\(two(date.hour)):\(two(date.minute)):\(two(date.second))"
      + "." + (millisecond < 100 ? "0" : "") + two(millisecond) + "Z"
  }

  /// Returns a date as `Wed, 25 Nov 2026 12:34:56 GMT` (RFC 9110, section 5.6.7).
  ///
  /// Those of files and of other servers may be any: they are taken for the first or the last second from 1970 to 9999.
  static func http(_ date: Date) -> String {
    let known = Date(timeIntervalSince1970: min(max(date.timeIntervalSince1970, 0), 253_402_300_799))
    let days = Int((known.timeIntervalSince1970 / 86_400).rounded(.down))
    let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let (date, _) = parts(known)
    let time = "\(two(date.hour)):\(two(date.minute)):\(two(date.second))"
    return "\(names[days % 7]), \(two(date.day)) \(months[date.month - 1]) \(date.year) \(time) GMT"
  }

  private struct Parts {
    var year, month, day, hour, minute, second: Int
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func parts(_ date: Date) -> (Parts, millisecond: Int) {
    let milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded(.down))
    let seconds = Int(milliseconds / 1000)
    let (days, second) = (seconds / 86_400, seconds % 86_400)
    // Years begin in March, so that the leap day is the last.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let parts = Parts(
      year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
      month: month,
      day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1,
      hour: second / 3600,
      minute: second / 60 % 60,
      second: second % 60,
    )
    return (parts, Int(milliseconds % 1000))
  }
}
