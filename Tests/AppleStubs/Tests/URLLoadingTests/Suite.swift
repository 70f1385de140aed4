import Testing

/// All tests of sessions, one by one, since one counts the process's descriptors.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct URLLoadingTests {}
