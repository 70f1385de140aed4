/// A command of `vitrine`, named by its first argument.
protocol Command {
  static var manual: Manual { get }

  init(_ arguments: Arguments) throws(UsageError)

  /// - Returns: The exit status.
  func run() -> Int32
}
