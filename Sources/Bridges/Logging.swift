#if Logging
public import Logging
public import Vitrine

extension PipelineConfiguration {
  /// Sends the log of pipelines to a logger of swift-log, with its fields as metadata.
  ///
  /// - Parameter logger: The logger, whose level decides what is written.
  public mutating func sendLog(to logger: Logger) {
    log = { entry in
      // The levels have the names of swift-log's.
      let level = Logger.Level(rawValue: entry.level.rawValue) ?? .error
      logger.log(level: level, "\(entry.message)", metadata: entry.metadata)
    }
  }
}

extension LogEntry {
  /// The fields that the entry has.
  fileprivate var metadata: Logger.Metadata {
    let fields: [(String, String?)] = [
      ("source", source), ("stage", stage?.description), ("origin", origin?.rawValue),
      ("bytes", byteCount?.description),
      ("duration", duration?.description), ("error", error.map { "\($0)" }),
    ]
    return Logger.Metadata(uniqueKeysWithValues: fields.compactMap { name, text in text.map { (name, .string($0)) } })
  }
}
#endif
