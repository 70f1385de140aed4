import Foundation

/// A thread with a connection to one host.
final class Lane: Sendable {
  let origin: Origin
  let waker = Waker()
  private let engine: Engine

  init(_ origin: Origin, _ engine: Engine) {
    self.origin = origin
    self.engine = engine
  }

  /// Starts the thread, which asks for its first job.
  func start() {
    let thread = Thread { self.run() }
    thread.name = "URLSession"
    thread.start()
  }

  private func run() {
    var connection: Connection?
    var next = engine.nextWhileIdle(for: self, isConnected: false)
    loop: while true {
      switch next {
      case .work(let job):
        let report = work(job, &connection)
        // The lane is free before anybody hears of the end, so that the next task finds it.
        next = engine.next(for: self, isConnected: connection != nil)
        report()
      case .idle:
        if let socket = connection?.descriptor, waker.wait(for: socket) != .woken {
          connection = nil
        }
        next = engine.nextWhileIdle(for: self, isConnected: connection != nil)
      case .end:
        break loop
      }
    }
    connection = nil
    waker.close()
    engine.ended(self)
  }

  /// Works for a job, and returns the function that tells its end or lets it go on.
  private func work(_ job: Job, _ connection: inout Connection?) -> () -> Void {
    let exchange = Exchange(job, waker, connection.take())
    var failure: Failure?
    do throws(Failure) {
      try exchange.run()
    } catch {
      failure = error
    }
    connection = exchange.reusableConnection(after: failure)
    engine.leave(job.task)
    return { [transaction = exchange.transaction, failure] in
      job.session.complete(job.task, [transaction], failure)
    }
  }
}
