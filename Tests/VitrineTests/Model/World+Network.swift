import Vitrine
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport

@testable import Vitrine

/// The server and the way to it.
extension World {
  /// What of an answer was sent.
  final class Transfer {
    let load: StepLoad
    let begun: Moment
    var status = 0
    var version: Int?
    var body = Data()
    var hasHead = false
    /// Those of whom it is certain that they wait for it.
    var certain: [Ticket] = []
    let requiresExactPixels: Bool

    init(_ load: StepLoad, _ begun: Moment, certain: [Ticket], requiresExactPixels: Bool) {
      (self.load, self.begun, self.certain, self.requiresExactPixels) = (load, begun, certain, requiresExactPixels)
    }
  }

  func tag(_ address: Int, _ version: Int) -> String { "\"\(address)-\(version)\"" }

  func headers(_ address: Int, _ version: Int) -> HTTPFields {
    var control = "max-age=\(Int(Self.lifetime))"
    if options.servesWhileRevalidating { control += ", stale-while-revalidate=\(Int(Self.whileRevalidating))" }
    return ["ETag": tag(address, version), "Cache-Control": control]
  }

  func begun(_ load: StepLoad) {
    let flight = flight(of: load)
    note(
      "load \(load.number) of \(flight) begins, \(load.priority), \(load.request.headers["If-None-Match"] ?? "plain")"
    )
    checkLoadIsNeeded(load, flight)
    let waiting = waiting(for: flight)
    let requiresExactPixels =
      !options.servesWhileRevalidating && !isRepeat(load) && !kept.contains(flight)
      && !hasDetached(flight.address, [])
    // Somebody must wait for it, and there is only this one.
    let certain = waiting.count == 1 ? waiting : []
    transfers[ObjectIdentifier(load)] = Transfer(load, now, certain: certain, requiresExactPixels: requiresExactPixels)
  }

  /// Sends the next piece of an answer.
  func answer(_ load: StepLoad, isFriendly: Bool = false) {
    guard let transfer = transfers[ObjectIdentifier(load)] else { return fail("an unknown load") }
    let flight = flight(of: load)
    if load.isCancelled {
      note("load \(load.number) is told that it was cancelled")
      return end(transfer, flight, .cancelled)
    }
    if !isFriendly, random.chance(1, in: 12) {
      note("load \(load.number) fails")
      return end(transfer, flight, .connectionLost)
    }
    if !transfer.hasHead { return sendHead(transfer, flight, isFriendly) }
    if transfer.body.isEmpty { return end(transfer, flight, nil) }
    let count = isFriendly ? transfer.body.count : 1 + random.below(transfer.body.count)
    note("load \(load.number) brings \(count) bytes")
    let piece = Data(transfer.body.prefix(count))
    transfer.body = Data(transfer.body.dropFirst(count))
    load.send(piece)
  }

  private func sendHead(_ transfer: Transfer, _ flight: Flight, _ isFriendly: Bool) {
    let version = versions[flight.address]
    let dice = isFriendly ? 9 : random.below(10)
    transfer.hasHead = true
    switch dice {
    case 0: transfer.status = 404
    case 1: transfer.status = 503
    case 2:
      (transfer.status, transfer.body) = (200, Pictures.garbage)
    default:
      transfer.version = version
      let isSame = transfer.load.request.headers["If-None-Match"] == tag(flight.address, version)
      transfer.status = isSame ? 304 : 200
      if !isSame { transfer.body = Pictures.file(flight.address, version) }
    }
    note("load \(transfer.load.number) answers \(transfer.status), version \(transfer.version ?? 0)")
    let headers = transfer.status < 400 ? headers(flight.address, version) : [:]
    transfer.load.respond(transfer.status, headers)
  }

  private func end(_ transfer: Transfer, _ flight: Flight, _ error: HTTPError.Code?) {
    var word = Word(flight: flight, requested: transfer.begun, ended: now)
    if error == .cancelled {
      word.failure = .cancelled
    } else if error != nil {
      (word.failure, word.allowsStale) = (.fetchFailed, true)
    } else if transfer.status >= 400 {
      // No header permits a stale image in place of a 503.
      word.failure = .badStatus
    } else if transfer.version == nil {
      word.failure = .undecodable
      damaged.insert(flight.address)
    } else {
      word.version = transfer.version
    }
    words.append(word)
    note("load \(transfer.load.number) ends")
    loader.forget(transfer.load)
    let isLast = !loader.running.contains { self.flight(of: $0) == flight }
    if error != .cancelled, isLast { kept.remove(flight) }
    transfers[ObjectIdentifier(transfer.load)] = nil
    transfer.load.end(error)
  }
}
