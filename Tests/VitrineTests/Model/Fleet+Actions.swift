import Vitrine
import VitrineCaching
import VitrineHTTP
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What can happen to a fleet.
extension Fleet {
  private static let actions: [(weight: Int, act: @Sendable (Fleet) -> Void)] = [
    (14, { $0.ask() }), (2, { $0.cancel() }), (18, { $0.hearFromServer() }), (50, { $0.runTask() }),
    (12, { $0.work() }), (5, { $0.letTimePass() }), (3, { $0.changeServer() }), (2, { $0.changeTerms() }),
    (2, { $0.loseLocally() }), (2, { $0.loseShared() }), (8, { $0.letGo() }), (4, { $0.happenLate() }),
    (3, { $0.changeCondition() }), (2, { $0.remove() }), (1, { $0.removeAll() }),
  ]
  private static let total = actions.reduce(0) { $0 + $1.weight }

  func act() {
    step += 1
    var dice = random.below(Self.total)
    for action in Self.actions {
      dice -= action.weight
      guard dice < 0 else { continue }
      return action.act(self)
    }
  }

  private func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[random.below(elements.count)]
  }

  private var anyMachine: Machine { machines[random.below(machines.count)] }
  /// Mostly the same one, so that machines meet.
  private var anyAddress: Int { random.chance(3, in: 4) ? 0 : 1 }

  // MARK: Callers

  private func ask() {
    guard tickets.count(where: { !$0.isEnded }) < 8 else { return }
    let way = random.chance(2, in: 3) ? 0 : random.below(5)
    let wish = Wish(address: anyAddress, size: random.below(2), processing: 0, way: way)
    ask(wish, on: anyMachine, isEncoded: random.chance(1, in: 2))
  }

  @discardableResult
  func ask(_ wish: Wish, on machine: Machine, isEncoded: Bool) -> Ticket {
    let companions = tickets.filter { !$0.isEnded && $0.machine === machine && $0.wish.address == wish.address }
    let since = companions.map(\.since).min() ?? now
    let ticket = Ticket(step, machine, wish, isEncoded: isEncoded, now, since: since)
    tickets.append(ticket)
    if tickets.count > 60 { tickets.removeAll { $0.isEnded && $0.number < step - 200 } }
    note("\(ticket.description) is asked for")
    let request = request(wish)
    ticket.task = Task(executorPreference: executor) { [unowned self] in
      do throws(LoadError) {
        if isEncoded {
          let file = try await machine.pipeline.encoded(for: request, as: .png())
          end(ticket, of: file)
        } else {
          end(ticket, of: try await machine.pipeline.imageTask(for: request).response)
        }
      } catch {
        end(ticket, error)
      }
    }
    return ticket
  }

  private func end(_ ticket: Ticket, of file: EncodedImage) {
    guard let image = try? DecoderRegistry([PNGDecoder()]).decode(file.data), let source = file.contentID else {
      ticket.isEnded = true
      return fail("\(ticket.description) got a file that is none")
    }
    end(ticket, image.bitmap, isStale: file.isStale, source, "\(file.origin)")
  }

  private func end(_ ticket: Ticket, of response: ImageResponse) {
    end(ticket, response.image, isStale: response.isStale, response.contentID, "\(response.origin)")
  }

  private func end(_ ticket: Ticket, _ bitmap: Bitmap, isStale: Bool, _ source: ContentID, _ origin: String) {
    ticket.isEnded = true
    guard let name = Pictures.name(of: bitmap) else { return fail("\(ticket.description) got pixels nobody made") }
    note("\(ticket.description) got version \(name.version), \(isStale ? "stale" : "fresh"), from \(origin)")
    served[ticket.number] = name.version
    if ticket.isCancelled { return }
    if contents[source] != Pictures.Name(address: name.address, version: name.version) {
      fail("\(ticket.description) got \(name) under the identity of \(contents[source].map { "\($0)" } ?? "nothing")")
    }
    check(ticket, name, isStale: isStale, origin)
  }

  private func end(_ ticket: Ticket, _ error: LoadError) {
    ticket.isEnded = true
    note("\(ticket.description) fails: \(error)")
    check(ticket, error)
  }

  private func cancel() {
    guard let ticket = pick(tickets.filter { !$0.isEnded && !$0.isCancelled }) else { return }
    note("\(ticket.description) is cancelled")
    ticket.isCancelled = true
    ticket.task?.cancel()
  }

  // MARK: The work

  private func runTask() {
    guard executor.count > 0 else { return }
    // Several at a time: most are short.
    for _ in 0..<min(executor.count, 1 + random.below(4)) where executor.count > 0 {
      executor.run(random.below(executor.count))
    }
  }

  private func work() {
    let context = anyMachine.pipeline.context
    if !context.decodeQueue.runNext() { context.processQueue.runNext() }
  }

  // MARK: The surroundings

  private func letTimePass() {
    let milliseconds = [10, 300, 2500, 20_000, 40_000, 70_000][random.below(6)]
    note("\(milliseconds) ms pass")
    clock.advance(by: .milliseconds(milliseconds))
  }

  private func changeServer() {
    let address = anyAddress
    guard versions[address] < 250 else { return }
    versions[address] += 1
    learn(address)
    note("the server has version \(versions[address]) of \(address)")
  }

  private func changeTerms() {
    let address = anyAddress
    let kind = random.chance(1, in: 2) ? Terms.Kind.plain : Terms.Kind.allCases[random.below(4)]
    terms[address] = Terms(
      kind: kind,
      lifetime: [10, 60, 200][random.below(3)],
      whileRevalidating: random.chance(1, in: 3) ? 60 : 0,
    )
    note("the server says of \(address): \(terms[address].control)")
  }

  private func loseLocally() {
    let machine = anyMachine
    machine.lost = now
    if random.chance(1, in: 2) {
      note("machine \(machine.number) loses its disk")
      machine.disk.entries = [:]
    } else {
      note("machine \(machine.number) loses its memory")
      machine.memory?.removeAll()
    }
  }

  private func loseShared() {
    if random.chance(1, in: 3) {
      note("the shared tier is empty")
      return restartShared()
    }
    guard let key = pick(shared.keys) else { return }
    note("the shared tier evicts an entry")
    shared.entries[key] = nil
    outdated.newest[key] = nil
  }

  func restartShared() {
    shared.restart()
    outdated = Outdated(restart: clock.now)
    // Nothing keeps out what was removed before, and comes late.
    for machine in machines { machine.removed = [:] }
  }

  private func changeCondition() {
    condition = random.chance(1, in: 2) ? .working : SharedTier.Condition.allCases[random.below(4)]
    note("the shared tier is \(condition)")
  }

  private func letGo() {
    guard !shared.held.isEmpty else { return }
    shared.release(random.below(shared.held.count))
  }

  private func happenLate() {
    guard !shared.late.isEmpty else { return }
    note("a write that had failed takes place")
    shared.happen(random.below(shared.late.count))
  }

  private func remove() {
    let (machine, address) = (anyMachine, anyAddress)
    let request = request(Wish(address: address, size: 0, processing: 0, way: 0))
    remove([address], "\(address)", from: machine) { await $0.remove(request) }
  }

  private func removeAll() {
    remove(Array(0..<Self.addresses), "all", from: anyMachine) { await $0.removeAll() }
  }

  private func remove(
    _ addresses: [Int],
    _ name: String,
    from machine: Machine,
    _ body: @escaping @Sendable (PipelineCache) async -> Void,
  ) {
    note("\(name) is removed from machine \(machine.number)")
    let (begun, refusals) = (now, machine.refusals)
    if machine.pipeline.loadCount == 0 { machine.separations = [:] }
    for address in addresses { machine.separations[address, default: 0] += 1 }
    Task(executorPreference: executor) { [unowned self] in
      await body(machine.pipeline.cache)
      note("\(name) has been removed from machine \(machine.number)")
      machine.lost = now
      for address in addresses { machine.separations[address, default: 0] += 1 }
      for address in addresses { machine.purged[address] = date(begun) }
      guard date(begun) > outdated.restart else { return }
      for address in addresses { machine.removed[address] = (begun, now, refusals) }
    }
  }

  private func date(_ moment: Moment) -> Date { clock.now.addingTimeInterval(moment.time - now.time) }

  // MARK: The server

  func begun(_ load: StepLoad, _ machine: Machine) {
    let flight = flight(of: load, machine)
    let condition = load.request.headers["If-None-Match"] ?? "plain"
    note("load \(load.number) of \(flight) begins, \(condition)")
    checkLoadIsNeeded(load, flight, machine)
    transfers[ObjectIdentifier(load)] = Transfer(machine, load, flight, now)
  }

  private func hearFromServer() {
    guard let load = pick(machines.flatMap(\.loader.running)) else { return }
    answer(load)
  }

  /// Sends the next piece of an answer.
  func answer(_ load: StepLoad, isFriendly: Bool = false) {
    guard let transfer = transfers[ObjectIdentifier(load)] else { return fail("an unknown load") }
    if load.isCancelled { return end(transfer, .cancelled) }
    if !isFriendly, random.chance(1, in: 12) { return end(transfer, .connectionLost) }
    if !transfer.hasHead { return sendHead(transfer, isFriendly) }
    if transfer.body.isEmpty { return end(transfer, nil) }
    let count = isFriendly ? transfer.body.count : 1 + random.below(transfer.body.count)
    let piece = Data(transfer.body.prefix(count))
    transfer.body = Data(transfer.body.dropFirst(count))
    load.send(piece)
  }

  private func sendHead(_ transfer: Transfer, _ isFriendly: Bool) {
    let address = transfer.flight.address
    let (version, terms) = (versions[address], terms[address])
    transfer.hasHead = true
    guard isFriendly || random.chance(11, in: 12) else {
      transfer.status = 503
      note("load \(transfer.load.number) of machine \(transfer.machine.number) answers 503")
      return transfer.load.respond(503)
    }
    (transfer.version, transfer.terms) = (version, terms)
    let isSame = transfer.load.request.headers["If-None-Match"] == tag(address, version)
    transfer.status = isSame ? 304 : 200
    if !isSame { transfer.body = Pictures.file(address, version) }
    note(
      "load \(transfer.load.number) of machine \(transfer.machine.number) answers \(transfer.status), version "
        + "\(version), \(terms.control)"
    )
    transfer.load.respond(transfer.status, ["ETag": tag(address, version), "Cache-Control": terms.control])
  }

  private func end(_ transfer: Transfer, _ error: HTTPError.Code?) {
    var word = Word(flight: transfer.flight, requested: transfer.begun, ended: now)
    if error == .cancelled {
      word.failure = .cancelled
    } else if error != nil {
      (word.failure, word.allowsStale) = (.fetchFailed, true)
    } else if transfer.status >= 400 {
      word.failure = .badStatus
    } else {
      (word.version, word.terms) = (transfer.version, transfer.terms)
    }
    words.append(word)
    note("load \(transfer.load.number) of machine \(transfer.machine.number) ends")
    transfer.machine.loader.forget(transfer.load)
    transfers[ObjectIdentifier(transfer.load)] = nil
    transfer.load.end(error)
  }
}
