package import Testing

extension Trait where Self == TimeLimitTrait {
  /// The time limit of every test that may wait.
  ///
  /// A test that hangs is named before `Scripts/limited.sh` stops the whole run; one that waits for a slow machine,
  /// or for a sanitizer, passes.
  package static var patient: Self { .timeLimit(.minutes(20)) }
}
