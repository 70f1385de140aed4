import CGTK
import VitrineRuntime

/// A closure, and the types that it takes and returns.
@MainActor
@safe
struct SignalHandler {
  let arguments: [any SignalValue.Type]
  let result: (any SignalValue.Type)?
  let call: @MainActor (_ result: UnsafeMutablePointer<GValue>?, SignalArguments) -> Void

  init<each Argument: SignalValue>(_ body: @escaping @MainActor (repeat each Argument) -> Void) {
    var types: [any SignalValue.Type] = []
    repeat types.append((each Argument).self)
    (arguments, result) = (types, nil)
    unsafe call = { _, arguments in
      // Time that the program's own code takes is not ours.
      MainThreadWork.exclude {
        _ = try? body(repeat arguments.next((each Argument).self))
      }
    }
  }

  init<each Argument: SignalValue, Result: SignalValue>(
    returning body: @escaping @MainActor (repeat each Argument) -> Result
  ) {
    var types: [any SignalValue.Type] = []
    repeat types.append((each Argument).self)
    (arguments, result) = (types, Result.self)
    unsafe call = { result, arguments in
      MainThreadWork.exclude {
        guard let answer = try? body(repeat arguments.next((each Argument).self)),
          let result = unsafe result, unsafe Result.accepts(result.pointee.g_type)
        else { return }
        unsafe answer.store(in: result)
      }
    }
  }

  /// A handler of Vitrine's own, whose time counts.
  init(measured body: @escaping @MainActor () -> Void) {
    (arguments, result) = ([], nil)
    unsafe call = { _, _ in MainThreadWork.measure(body) }
  }

  /// A handler of Vitrine's own with the first argument of a signal, whose time counts.
  init(measuredArgument body: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void) {
    (arguments, result) = unsafe ([UnsafeMutableRawPointer?.self], nil)
    unsafe call = { _, arguments in
      let argument = unsafe try? arguments.next(UnsafeMutableRawPointer?.self)
      MainThreadWork.measure { unsafe body(argument ?? nil) }
    }
  }
}

/// The arguments of an emission, read one after the other.
@MainActor
@safe
final class SignalArguments {
  private let values: UnsafeBufferPointer<GValue>
  private var index = 0

  struct Missing: Error {}

  init(count: Int, values: UnsafePointer<GValue>?) {
    unsafe self.values = UnsafeBufferPointer(start: values, count: count)
  }

  /// Reads the next argument.
  ///
  /// - Throws: `Missing` if it is a pointer to nothing, and the type is no optional.
  func next<Value: SignalValue>(_: Value.Type) throws -> Value {
    // The first value is the sender.
    index += 1
    // Their number and types were checked when the signal was connected.
    guard unsafe index < values.count,
      let value = unsafe values.baseAddress.flatMap({ unsafe Value(signalValue: $0 + index) })
    else {
      assertionFailure("argument \(index) of a signal is nil: its type must be an optional, not \(Value.self)")
      throw Missing()
    }
    return value
  }
}
