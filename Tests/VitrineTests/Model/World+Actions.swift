import Vitrine
import VitrineCaching
import VitrineImaging
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@testable import Vitrine

/// What can happen.
extension World {
  private static let actions: [(weight: Int, act: @Sendable (World) -> Void)] = [
    (20, { $0.ask() }), (8, { $0.cancel() }), (6, { $0.changePriority() }), (3, { $0.watch() }),
    (16, { $0.hearFromServer() }), (18, { $0.runTask() }), (12, { $0.decode() }), (12, { $0.process() }),
    (4, { $0.letTimePass() }), (5, { $0.changeServer() }), (2, { $0.changeMemory() }), (3, { $0.changeDisk() }),
    (4, { $0.changeScope() }), (5, { $0.prefetch() }), (3, { $0.askForData() }), (1, { $0.cancelByRequest() }),
    (1, { $0.cancelByURL() }),
    (3, { $0.lookInMemory() }),
  ]
  private static let total = actions.reduce(0) { $0 + $1.weight }

  /// Lets something happen, and looks whether all is well then.
  func act() {
    step += 1
    depth += 1
    var dice = random.below(Self.total)
    for action in Self.actions {
      dice -= action.weight
      guard dice < 0 else { continue }
      action.act(self)
      break
    }
    depth -= 1
    checkAll()
  }

  private func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[random.below(elements.count)]
  }

  func anyWish() -> Wish {
    Wish(
      address: options.isCrowded ? 0 : random.below(Self.addresses),
      size: random.below(options.isCrowded ? 2 : 3),
      processing: random.chance(1, in: 2) ? 0 : random.below(options.isCrowded ? 2 : 4),
      // Mostly as most ask.
      way: random.chance(1, in: 2) ? 0 : random.below(5),
    )
  }

  private func anyPriority() -> Priority { Priority.allCases[random.below(5)] }

  // MARK: Callers

  func add(_ ticket: Ticket) {
    tickets.append(ticket)
    let oldest = step - 100
    if tickets.count > 60 { tickets.removeAll { $0.ended != nil && $0.number < oldest } }
  }

  private func ask() {
    guard tickets.count(where: { $0.ended == nil }) < 10 else { return }
    let wish = anyWish()
    let ticket = Ticket(
      wish,
      step,
      anyPriority(),
      isScoped: random.chance(1, in: 3),
      continues: random.chance(1, in: 10),
    )
    let isWatching = random.chance(1, in: 3)
    add(ticket)
    note(
      "\(ticket.number) asks for \(wish), \(ticket.priority)\(ticket.isScoped ? ", in the scope" : "")\(ticket.continues ? ", to go on" : "")"
    )
    if !(ticket.isScoped && isScopePaused) { noteBegin(of: ticket) }
    let request = request(wish, priority: ticket.priority, continues: ticket.continues)
    ticket.task = pipeline.imageTask(for: request, isWatching: isWatching, in: ticket.isScoped ? scope : nil) {
      [unowned self] event in
      hear(event, ticket)
    }
  }

  private func hear(_ event: ImageEvent, _ ticket: Ticket) {
    if ticket.ended != nil { fail("\(ticket.number) hears of \(event) after its end") }
    if case .finished(let result) = event { end(ticket, result) }
  }

  func end(_ ticket: Ticket, _ result: Result<ImageResponse, LoadError>) {
    if ticket.begun == nil { noteBegin(of: ticket) }
    ticket.ends.append(result)
    ticket.ended = now
    note(
      "\(ticket.number) ends with \(result.map { "\(Pictures.name(of: $0.image).map { "\($0)" } ?? "?") \($0.origin)" })"
    )
    check(ticket, result)
  }

  /// Called before the pipeline learns of it.
  func noteBegin(of ticket: Ticket) {
    let companions = tickets.filter {
      $0 !== ticket && $0.isWaiting && $0.wish.flight == ticket.wish.flight && $0.wish.size == ticket.wish.size
        && !$0.isData
    }
    ticket.begun = now
    ticket.since = companions.compactMap(\.since).min() ?? now
    let isPlain = ticket.wish.size == 0 && ticket.wish.steps.isEmpty
    guard !ticket.isData, ticket.prefetcher == nil, options.storage == .original || isPlain,
      !isAnythingInMemory(of: ticket.wish.address)
    else { return }
    for transfer in transfers.values where transfer.requiresExactPixels && !transfer.load.isCancelled {
      guard flight(of: transfer.load) == ticket.wish.flight,
        companions.allSatisfy({ one in transfer.certain.contains { $0 === one } })
      else { continue }
      transfer.certain.append(ticket)
    }
  }

  private func cancel() {
    guard let ticket = pick(tickets.filter { $0.ended == nil && !$0.isCancelled && $0.prefetcher == nil }) else {
      return
    }
    note("\(ticket.number) is cancelled")
    ticket.isCancelled = true
    keep(ticket)
    ticket.task?.cancel()
    dataTasks[ticket.number]?.cancel()
    if !ticket.isData, ticket.ended == nil { fail("\(ticket.number) was cancelled and has not ended") }
  }

  private func keep(_ ticket: Ticket) {
    if ticket.continues, ticket.begun != nil { kept.insert(ticket.wish.flight) }
  }

  private func changePriority() {
    guard let ticket = pick(tickets.filter { $0.ended == nil && $0.task != nil }) else { return }
    ticket.priority = anyPriority()
    note("\(ticket.number) becomes \(ticket.priority)")
    ticket.task?.priority = ticket.priority
  }

  private func watch() {
    guard let task = pick(tickets.filter { $0.ended == nil }.compactMap(\.task)) else { return }
    streams.append(task.events)
    if streams.count > 4 { streams.removeFirst() }
  }

  /// Cancels what the pipeline's own calls, or the scope's, have begun for an image.
  private func cancelByRequest() {
    guard let wish = pick(tickets.filter { $0.isWaiting }.map(\.wish)) else { return }
    let isScoped = random.chance(1, in: 3)
    note("\(isScoped ? "the scope" : "the pipeline") cancels \(wish)")
    cancel(isScoped, where: { $0.wish == wish && !$0.isData }) {
      if isScoped { scope.cancel(for: request(wish)) } else { pipeline.cancel(for: request(wish)) }
    }
  }

  private func cancelByURL() {
    guard let wish = pick(tickets.filter { $0.isWaiting }.map(\.wish)), let url = request(wish).url
    else { return }
    let isScoped = random.chance(1, in: 3)
    note("\(isScoped ? "the scope" : "the pipeline") cancels \(wish.address)")
    cancel(isScoped, where: { $0.wish.address == wish.address }) {
      if isScoped { scope.cancel(for: url) } else { pipeline.cancel(for: url) }
    }
  }

  /// Those of others go on, as their checks at the end say.
  private func cancel(_ isScoped: Bool, where isMeant: (Ticket) -> Bool, _ act: () -> Void) {
    let concerned = tickets.filter {
      ($0.isWaiting || $0.isHeldBack) && $0.isScoped == isScoped && $0.prefetcher == nil && isMeant($0)
    }
    for ticket in concerned {
      ticket.isCancelled = true
      // A scope cancels tasks, whose downloads may go on.
      if isScoped { keep(ticket) }
    }
    act()
    // Of bytes the end is told later.
    for ticket in concerned where ticket.ended == nil && !ticket.isData {
      fail("\(ticket.number) was cancelled by its request or URL and has not ended")
    }
  }

  private func changeScope() {
    switch random.below(6) {
    case 0, 1:
      note("the scope pauses")
      isScopePaused = true
      scope.pause()
    case 2, 3: resumeScope()
    case 4:
      scopeLimit = anyPriority()
      note("the scope's limit is \(scopeLimit)")
      scope.priorityLimit = scopeLimit
    default:
      note("the scope is cancelled")
      for ticket in tickets where ticket.isScoped && ticket.ended == nil {
        ticket.isCancelled = true
        keep(ticket)
      }
      scope.cancelAll()
    }
  }

  func resumeScope() {
    note("the scope goes on")
    isScopePaused = false
    for ticket in tickets where ticket.isScoped && ticket.ended == nil && ticket.begun == nil {
      ticket.since = waiting(for: ticket.wish.flight).compactMap(\.since).min() ?? now
      ticket.begun = now
    }
    scope.resume()
  }

  private func prefetch() {
    let number = random.below(prefetchers.count)
    let prefetcher = prefetchers[number]
    switch random.below(8) {
    case 0, 1:
      let ticket = Ticket(anyWish(), step, .low, prefetcher: number)
      add(ticket)
      note("\(ticket.number) prefetches \(ticket.wish) \(prefetcher.destination)")
      noteBegin(of: ticket)
      prefetcher.start([request(ticket.wish)]) { [unowned self] _, result in
        if ticket.ended != nil { fail("\(ticket.number) is told twice") }
        ticket.ended = now
        note("\(ticket.number) is told \(result)")
        if case .failure(let error) = result { check(ticket, error) }
      }
    case 2:
      let running = tickets.filter { $0.prefetcher == number && $0.ended == nil }
      guard let wish = pick(running)?.wish else { return }
      note("\(wish) is not prefetched")
      for ticket in running where ticket.wish == wish { ticket.isCancelled = true }
      prefetcher.stop([request(wish)])
      if running.contains(where: { $0.wish == wish && $0.ended == nil }) { fail("a stopped prefetch has not ended") }
    case 3: prefetcher.isPaused.toggle()
    default: runLaters()
    }
  }

  func runLaters() {
    let due = laters.value
    laters.value = []
    for begin in due { begin() }
  }

  private func askForData() {
    let wish = Wish(address: anyWish().address, size: 0, processing: 0, way: random.below(5))
    let ticket = Ticket(wish, step, anyPriority(), isData: true)
    add(ticket)
    note("\(ticket.number) asks for the bytes of \(wish.flight)")
    let request = request(wish, priority: ticket.priority)
    dataTasks[ticket.number] = Task(executorPreference: executor) { [unowned self] in
      ticket.begun = now
      ticket.since = now
      do throws(LoadError) {
        let data = try await pipeline.data(for: request)
        endData(ticket, .success(data))
      } catch {
        endData(ticket, .failure(error))
      }
    }
  }

  private func endData(_ ticket: Ticket, _ result: Result<Data, LoadError>) {
    if ticket.ended != nil { fail("\(ticket.number) ends twice") }
    ticket.ended = now
    dataTasks[ticket.number] = nil
    note("\(ticket.number) has its bytes")
    switch result {
    case .success(let data):
      guard let name = Pictures.name(of: data) else {
        if !damaged.contains(ticket.wish.address) { fail("\(ticket.number) got bytes that nobody sent") }
        return
      }
      if name.address != ticket.wish.address { fail("\(ticket.number) got the bytes of \(name)") }
    case .failure(let error): check(ticket, error)
    }
  }

  // MARK: The work

  private func hearFromServer() {
    guard let load = pick(loader.running) else { return }
    answer(load)
  }

  /// Runs one piece of what awaits; never one within another, as no thread does.
  private func runTask() {
    guard !isInTask, executor.count > 0 else { return }
    isInTask = true
    executor.run(random.below(executor.count))
    isInTask = false
  }

  private func decode() { pipeline.context.decodeQueue.runNext() }

  private func process() { pipeline.context.processQueue.runNext() }

  // MARK: The surroundings

  private func letTimePass() {
    let seconds = (options.isCrowded ? [1, 2, 5, 70] : [5, 20, 40, 70])[random.below(4)]
    note("\(seconds) s pass")
    clock.advance(by: .seconds(seconds))
  }

  private func changeServer() {
    let address = anyWish().address
    guard versions[address] < 250 else { return }
    versions[address] += 1
    note("the server has version \(versions[address]) of \(address)")
  }

  private func changeMemory() {
    guard let memory else { return }
    let wish = anyWish()
    lost = now
    switch random.below(4) {
    case 0: memory.removeAll()
    case 1: memory.remove(request(wish).imageKey)
    case 2: memory.updateVariants(of: request(wish).keys.fetch) { _ in nil }
    default:
      guard !wish.steps.contains(Wish.broken) else { return }
      let (width, height) = Wish.shown[wish.size]
      let steps = wish.steps.reduce(0) { $0 * 4 + $1 }
      let name = Pictures.Name(address: wish.address, version: Pictures.put, steps: steps)
      note("somebody puts \(wish) into memory")
      puts.append((wish, now))
      pipeline.cache[request(wish)] = Pictures.bitmap(name, width: width, height: height)
    }
  }

  private func changeDisk() {
    let request = request(anyWish())
    switch random.below(5) {
    case 0: disk.entries = [:]
    case 1: disk.entries[request.keys.fetch] = nil
    case 2:
      guard let address = Int(request.name.split(separator: "/").last ?? "") else { return }
      damaged.insert(address)
      note("the bytes of \(address) are damaged")
      disk.entries[request.keys.fetch]?.data = Pictures.garbage
    case 3:
      note("\(request.name) is removed")
      guard let address = Int(request.name.split(separator: "/").last ?? "") else { return }
      remove([address]) { await $0.remove(request) }
    default:
      note("everything is removed")
      remove(Array(0..<Self.addresses)) { await $0.removeAll() }
    }
  }

  private func remove(_ addresses: [Int], _ body: @escaping @Sendable (PipelineCache) async -> Void) {
    for address in addresses { removals[address, default: (0, now)].underWay += 1 }
    Task(executorPreference: executor) { [unowned self] in
      await body(pipeline.cache)
      lost = now
      note("a removal of \(addresses) has ended")
      for address in addresses { removals[address] = removals[address].map { ($0.underWay - 1, now) } }
    }
  }

  private func lookInMemory() {
    let wish = anyWish()
    guard let response = pipeline.cachedImage(for: request(wish)) else { return }
    checkMemory(wish, response)
  }

  // MARK: The end

  /// Lets everything come to its end, with a server that answers well.
  func drain() {
    note("everything comes to its end")
    resumeScope()
    for prefetcher in prefetchers { prefetcher.isPaused = false }
    depth = 5
    for _ in 0..<10_000 {
      step += 1
      runLaters()
      if let load = loader.running.first {
        answer(load, isFriendly: true)
      } else if executor.count > 0 {
        executor.run(0)
      } else if !pipeline.context.decodeQueue.runNext(), !pipeline.context.processQueue.runNext(), laters.value.isEmpty
      {
        break
      }
      checkAll()
    }
    checkEnd()
  }
}
