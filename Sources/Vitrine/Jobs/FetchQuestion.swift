import VitrineHTTP
import VitrineRuntime

/// The question that a ``FetchJob`` asks a server, and the findings it asks it for.
///
/// A reference, since the closures that wait for the response hold it.
final class FetchQuestion: Sendable {
  /// The stored bytes, which the response renews, or which are served in place of an error.
  struct Stored: Sendable {
    let found: BytesSearch.Found
    let plan: BytesPlan
  }

  let url: HTTPURL
  /// The stored bytes, if there are any; boxed, since most questions that wait long have none.
  let stored: Box<Stored>?
  let conditions: HTTPFields
  let resumption: Resumption?
  /// The place among all requests, and the time of sending.
  let ask: SourceRecord.Ask
  let time: Date
  /// The change that the hook before sending has made.
  let change = Lock(RequestChange?.none)

  init(
    _ url: HTTPURL,
    _ stored: Box<Stored>?,
    _ conditions: HTTPFields,
    _ resumption: Resumption?,
    ask: SourceRecord.Ask,
    time: Date,
  ) {
    (self.url, self.stored, self.conditions) = (url, stored, conditions)
    (self.resumption, self.ask, self.time) = (resumption, ask, time)
  }

  /// The same question for the whole body.
  func whole(ask: SourceRecord.Ask, time: Date) -> FetchQuestion {
    FetchQuestion(url, stored, conditions, nil, ask: ask, time: time)
  }
}
