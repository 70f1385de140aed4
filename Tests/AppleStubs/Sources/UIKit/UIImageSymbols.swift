import Foundation

extension UIImage {
  /// Makes a picture of a system symbol.
  public convenience init?(systemName name: String) {
    self.init(systemName: name, withConfiguration: nil)
  }

  /// Makes a picture of a system symbol with settings.
  public convenience init?(systemName name: String, withConfiguration configuration: UIImage.Configuration?) {
    guard let facts = UIImage.symbolFacts(name, nil, configuration) else { return nil }
    self.init(_facts: facts)
  }

  /// Makes a picture of a system symbol that shows a value from 0 to 1.
  public convenience init?(
    systemName name: String,
    variableValue value: Double,
    configuration: UIImage.Configuration? = nil,
  ) {
    guard let facts = UIImage.symbolFacts(name, value, configuration) else { return nil }
    self.init(_facts: facts)
  }

  /// Whether it is a symbol.
  public var isSymbolImage: Bool { _facts.symbolName != nil }

  /// The settings, if it is a symbol.
  public var symbolConfiguration: UIImage.SymbolConfiguration? {
    isSymbolImage ? _facts.configuration as? UIImage.SymbolConfiguration : nil
  }

  private static func symbolFacts(
    _ name: String,
    _ value: Double?,
    _ configuration: UIImage.Configuration?,
  ) -> _Facts? {
    guard !name.isEmpty, _symbolNames?.contains(name) ?? true else { return nil }
    var facts = _Facts()
    facts.symbolName = name
    facts.variableValue = value
    facts.configuration = configuration ?? UIImage.SymbolConfiguration.unspecified
    facts.renderingMode = .automatic
    return facts
  }
}
