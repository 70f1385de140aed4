import Combine
import Testing
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

/// Takes note of what is received, and asks for values when the test does.
private final class Taker: Subscriber, @unchecked Sendable {
  // @unchecked: the subscription is set within the call that subscribes, and the log is guarded.
  typealias Input = ImageResponse
  typealias Failure = LoadError

  let log = Watched<[String]>([])
  private var subscription: (any Subscription)?

  func receive(subscription: any Subscription) { self.subscription = subscription }

  func receive(_ input: ImageResponse) -> Subscribers.Demand {
    log.change { $0.append("value") }
    return .none
  }

  func receive(completion: Subscribers.Completion<LoadError>) {
    switch completion {
    case .finished: log.change { $0.append("finished") }
    case .failure(let error): log.change { $0.append("\(error.code)") }
    }
  }

  func request(_ demand: Subscribers.Demand) { subscription?.request(demand) }
  func cancel() { subscription?.cancel() }
}

@Suite(.patient)
struct PublisherTests {
  private let setting: Setting

  init() throws { setting = try Setting() }

  @Test
  func nothingIsLoadedBeforeSomebodySubscribes() async throws {
    let publisher = setting.pipeline.publisher(for: ImageRequest(url: Setting.slow))
    #expect(setting.loader.counts.loads == 0)
    let taker = Taker()
    publisher.subscribe(taker)
    try await setting.loader.nextLoad(of: Setting.slow).respond(with: setting.response)
  }

  @Test
  func anImageIsSentOnceItIsWanted() async throws {
    let taker = Taker()
    setting.pipeline.publisher(for: ImageRequest(url: Setting.cat)).subscribe(taker)
    _ = try await setting.pipeline.image(for: ImageRequest(url: Setting.cat))
    #expect(taker.log.value.isEmpty)

    taker.request(.none)
    #expect(taker.log.value.isEmpty)
    taker.request(.max(1))
    await taker.log.wait { $0.count == 2 }

    #expect(taker.log.value == ["value", "finished"])
  }

  @Test
  func anImageInMemoryIsSentWithinTheSubscription() async throws {
    _ = try await setting.pipeline.image(for: Setting.request(Setting.cat))
    let log = Watched<[ImageResponse.Origin]>([])
    let subscription = setting.pipeline.publisher(for: Setting.request(Setting.cat))
      .sink(receiveCompletion: { _ in }, receiveValue: { response in log.change { $0.append(response.origin) } })
    #expect(log.value == [.memory])
    subscription.cancel()
  }

  @Test
  @MainActor
  func anImageInMemoryIsSentAtOnceOnTheMainThreadToo() async throws {
    _ = try await setting.pipeline.image(for: Setting.request(Setting.cat))
    let taker = Taker()
    setting.pipeline.publisher(for: Setting.request(Setting.cat), onMain: true).subscribe(taker)
    taker.request(.unlimited)
    #expect(taker.log.value == ["value", "finished"])
  }

  @Test
  func anImageIsSentOnTheMainThreadIfAsked() async throws {
    let isSent = Watched(false)
    let subscription = setting.pipeline.publisher(for: ImageRequest(url: Setting.cat), onMain: true)
      .sink(
        receiveCompletion: { _ in },
        receiveValue: { _ in
          MainActor.preconditionIsolated()
          isSent.change { $0 = true }
        },
      )
    await isSent.wait { $0 }
    #expect(isSent.value)
    subscription.cancel()
  }

  @Test
  func aFailureIsSentWithoutDemand() async {
    let taker = Taker()
    setting.pipeline.publisher(for: ImageRequest(url: Setting.missing)).subscribe(taker)
    await taker.log.wait { !$0.isEmpty }
    #expect(taker.log.value == ["badStatus"])
  }

  @Test
  func cancellingStopsTheLoadAndNothingIsReceivedAfterwards() async throws {
    let taker = Taker()
    setting.pipeline.publisher(for: ImageRequest(url: Setting.slow)).subscribe(taker)
    taker.request(.unlimited)
    let load = try await setting.loader.nextLoad(of: Setting.slow)

    taker.cancel()
    await load.wait { $0.isCancelled }

    #expect(taker.log.value.isEmpty)
  }

  @Test
  func eachSubscriberHasALoadOfItsOwnThatSharesTheWork() async throws {
    let publisher = setting.pipeline.publisher(for: ImageRequest(url: Setting.slow))
    let (leaving, staying) = (Taker(), Taker())
    for taker in [leaving, staying] {
      publisher.subscribe(taker)
      taker.request(.max(1))
    }
    let load = try await setting.loader.nextLoad(of: Setting.slow)
    leaving.cancel()
    load.respond(with: setting.response)
    await staying.log.wait { $0.count == 2 }
    #expect(leaving.log.value.isEmpty)
    #expect(setting.loader.counts.loads == 1)
  }
}
