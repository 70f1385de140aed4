import Testing
import VitrineCaching
import VitrineRuntime

@testable import VitrineRedis

struct RedisServerTests {
  struct Case: Sendable {
    let url: String
    let place: RedisServer.Place
    var user: String?
    var password: String?
    var database = 0
    let shown: String
  }

  static let cases = [
    Case(
      url: "redis://cache.invalid",
      place: .tcp(host: "cache.invalid", port: 6379),
      shown: "redis://cache.invalid:6379/0",
    ),
    Case(
      url: "redis://vitrine:s%40cret@10.0.0.7:7000/3",
      place: .tcp(host: "10.0.0.7", port: 7000),
      user: "vitrine",
      password: "s@cret",
      database: 3,
      shown: "redis://10.0.0.7:7000/3",
    ),
    Case(
      url: "redis://:a:b@[::1]:7000/",
      place: .tcp(host: "::1", port: 7000),
      password: "a:b",
      shown: "redis://[::1]:7000/0",
    ),
    Case(url: "REDIS://[::1]/2", place: .tcp(host: "::1", port: 6379), database: 2, shown: "redis://[::1]:6379/2"),
    Case(
      url: "unix://:secret@/run/redis.sock?db=4",
      place: .unix(path: "/run/redis.sock"),
      password: "secret",
      database: 4,
      shown: "unix:///run/redis.sock?db=4",
    ),
    Case(url: "unix:///run/a%20b", place: .unix(path: "/run/a b"), shown: "unix:///run/a b?db=0"),
  ]

  @Test(arguments: cases)
  func aURLSaysWhereTheServerIs(_ one: Case) throws {
    let server = try RedisServer(one.url)
    #expect(server.place == one.place)
    #expect((server.user, server.password, server.database) == (one.user, one.password, one.database))
    #expect(server.description == one.shown)
  }

  @Test(arguments: [
    "", "redis", "redis:/", "redis://", "http://host", "redis://:topsecret@", "redis://topsecret@host",
    "redis://u:topsecret@host:0", "redis://u:topsecret@host:65536", "redis://u:topsecret@host:x",
    "redis://u:topsecret@host/x", "redis://u:topsecret@host/-1", "redis://u:%zztopsecret@host", "redis://:@host",
    "unix://relative", "unix:///a?x=1", "unix:///a?db=x", "unix:///" + String(repeating: "a", count: 200),
  ])
  func aURLThatSaysSomethingElseIsRefusedWithoutItsPassword(_ url: String) {
    let error = #expect(throws: RedisError.self) { try RedisServer(url) }
    #expect(error?.description.contains("topsecret") == false)
    #expect(error?.stage == .configure)
  }

  @Test
  func encryptionIsRefusedWithTheWayOut() {
    let error = #expect(throws: RedisError.self) { try RedisServer("rediss://u:topsecret@host") }
    #expect(error?.description.contains("tunnel") == true)
    #expect(error?.description.contains("topsecret") == false)
  }

  @Test
  func whatAServerRepeatsIsHidden() throws {
    let server = try RedisServer("redis://:topsecret@host")
    let error = RedisError(reply: "ERR unknown command 'AUTH', with args 'topsecret'\u{1B}[31m", server, .authenticate)
    #expect(
      error.description == "redis://host:6379/0: authenticate: ERR unknown command 'AUTH', with args '(hidden)' [31m"
    )
    #expect(!error.isRefusal)
    #expect(RedisError(reply: "OOM command not allowed", server).isRefusal)
  }
}

struct RedisHeadTests {
  private let entry = RedisTests.entry(of: 700, expires: Date(timeIntervalSinceReferenceDate: 123_456_789.125))

  @Test
  func aHeadIsReadAsItWasWritten() throws {
    let bytes = RedisHead(entry).encoded(for: key(1))
    let head = try #require(RedisHead(bytes, for: key(1)))
    #expect(head == RedisHead(entry))
    #expect(head.entry(entry.data) == entry)
    var other = entry
    (other.expires, other.kind, other.metadata) = (nil, .finished, Data())
    #expect(RedisHead(RedisHead(other).encoded(for: key(1)), for: key(1))?.entry(other.data) == other)
  }

  @Test
  func aHeadWithAnyBitChangedIsNone() {
    let bytes = RedisHead(entry).encoded(for: key(1))
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << bit
        #expect(RedisHead(changed, for: key(1)) == nil)
      }
    }
    for count in 0..<bytes.count { #expect(RedisHead(bytes.prefix(count), for: key(1)) == nil) }
    #expect(RedisHead(bytes + [0], for: key(1)) == nil)
    #expect(RedisHead(bytes, for: key(2)) == nil)
  }

  @Test
  func aBodyWithAnyByteChangedIsNotTheHeads() {
    let head = RedisHead(entry)
    for index in entry.data.indices {
      var changed = entry.data
      changed[index] ^= 0x40
      #expect(head.entry(changed) == nil)
    }
    #expect(head.entry(entry.data.dropLast()) == nil)
    #expect(head.entry(Data()) == nil)
  }
}
