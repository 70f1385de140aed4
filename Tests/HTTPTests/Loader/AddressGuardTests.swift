import Testing
import VitrineHTTP
import VitrineRuntime
import VitrineTestSupport
import VitrineTesting

@Suite(.patient)
struct AddressGuardTests {
  private func network(_ text: String) throws -> IPNetwork { try #require(IPNetwork(text)) }

  @Test(arguments: [
    // Spellings of 127.0.0.1, as programs read them.
    "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.1/",
    "http://0177.0.0.1/", "http://017700000001/", "http://127.0.0.1./", "http://%31%32%37.0.0.1/", "http://[::1]/",
    "http://１２７.0.0.1/", "http://127。0。0。1/",
    // IPv4 within IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo (server, client), ISATAP.
    "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[0:0:0:0:0:ffff:7f00:0001]/",
    "http://[::127.0.0.1]/", "http://[::ffff:0:127.0.0.1]/", "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b:1::127.0.0.1]/", "http://[2002:7f00:1::]/", "http://[2001:0:7f00:1::f8f8:f8f8]/",
    "http://[2001:0:808:808::80ff:fffe]/", "http://[2a00::5efe:10.0.0.1]/", "http://[2a00::200:5efe:10.0.0.1]/",
    // Private, link-local, shared, multicast, reserved, metadata.
    "http://10.1.2.3/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.0.1/",
    "http://169.254.169.254/",
    "http://100.100.100.200/", "http://168.63.129.16/", "http://192.0.0.192/", "http://0.0.0.0/", "http://0/",
    "http://224.0.0.1/", "http://255.255.255.255/", "http://240.0.0.1/", "http://198.18.0.1/", "http://203.0.113.5/",
    "http://[::]/", "http://[fe80::1]/", "http://[fd00:ec2::254]/", "http://[fec0::1]/", "http://[ff02::1]/",
    "http://[2001:db8::1]/", "http://[100::1]/", "http://[4000::1]/",
  ])
  func anAddressOfNoPublicServerIsRefused(url: String) throws {
    let url = try? HTTPURL(url)
    // Refused as no URL at all is as good.
    if let url { #expect(AddressGuard().objection(to: url) != nil) }
  }

  @Test(arguments: [
    "http://8.8.8.8/", "https://172.15.0.1/", "http://172.32.0.1/", "http://11.0.0.1/", "http://[2606:4700::1111]/",
    "http://[::ffff:8.8.8.8]/", "http://[64:ff9b::8.8.8.8]/", "http://[2002:808:808::]/", "http://100.128.0.1/",
    "http://example.com/", "http://10.example.com/",
  ])
  func aPublicAddressAndANameAreNotRefusedByTheURL(url: String) throws {
    #expect(AddressGuard().objection(to: try HTTPURL(url)) == nil)
  }

  @Test
  func portsAndSchemesAreAllowListed() throws {
    var addresses = AddressGuard()
    #expect(addresses.objection(to: try HTTPURL("http://a.example:22/"))?.contains("port 22") == true)
    #expect(addresses.objection(to: try HTTPURL("https://a.example:443/")) == nil)
    addresses.allowsPlainHTTP = false
    #expect(addresses.objection(to: try HTTPURL("http://a.example/"))?.contains("https") == true)
    addresses.ports = nil
    #expect(addresses.objection(to: try HTTPURL("https://a.example:22/")) == nil)
  }

  @Test
  func whatIsAllowedIsAllowedAndWhatIsRefusedComesFirst() throws {
    var addresses = AddressGuard()
    addresses.allowed = [try network("10.0.0.0/8"), try network("fd00::/8")]
    addresses.refused = [try network("10.9.0.0/16"), try network("2a00:1::/32")]
    func isRefused(_ text: String) throws -> Bool {
      addresses.objection(to: try #require(IPAddress(text))) != nil
    }
    #expect(try !isRefused("10.8.0.1"))
    #expect(try !isRefused("::ffff:10.8.0.1"))
    #expect(try !isRefused("fd12::1"))
    #expect(try isRefused("10.9.0.1"))
    #expect(try isRefused("::ffff:10.9.0.1"))
    #expect(try isRefused("2a00:1::5"))
    #expect(try isRefused("192.168.0.1"))
    // One of the two that a Teredo address holds is allowed, the other is not.
    #expect(try isRefused("2001:0:a08:1::5601:5601"))
  }

  @Test
  func networksReadAndCompareBits() throws {
    #expect(IPNetwork("10.0.0.0/33") == nil)
    #expect(IPNetwork("10.0.0.0/") == nil)
    #expect(IPNetwork("a.example/8") == nil)
    let odd = try network("10.96.0.0/11")
    #expect(odd.contains(try #require(IPAddress("10.127.255.255"))))
    #expect(!odd.contains(try #require(IPAddress("10.128.0.0"))))
    #expect(!odd.contains(try #require(IPAddress("::ffff:10.96.0.1"))))
    #expect(try network("0.0.0.0/0").contains(try #require(IPAddress("255.1.1.1"))))
    #expect(try network("1.2.3.4").prefixLength == 32)
  }

  // MARK: Through a loader

  @Test
  func anAddressInTheURLIsRefusedBeforeAnythingIsSent() async throws {
    let server = try LoopbackServer()
    server.route("*", LoopbackResponse())
    let loader = makeLoader {
      $0.addressGuard = AddressGuard()
      $0.addressGuard?.ports = nil
    }
    let error = try await loader.failure(server.url("/a").replacing("127.0.0.1", with: "0x7f.1"))
    #expect(error.code == .addressRefused)
    #expect(error.detail.contains("127.0.0.1"))
    #expect(!error.isWorthRetrying)
    #expect(server.counts.connections == 0)
  }

  /// The name is looked up, and only then it shows what it means.
  @Test
  func aNameThatMeansAPrivateAddressIsRefusedAfterItsLookUp() async throws {
    let server = try LoopbackServer()
    server.route("*", LoopbackResponse())
    let loader = makeLoader {
      $0.addressGuard = AddressGuard()
      $0.addressGuard?.ports = nil
    }
    let url = server.url("/a").replacing("127.0.0.1", with: "localhost")
    let error = try await loader.failure(url)
    #expect(error.code == .addressRefused)
    #expect(error.url == url)
    #expect(server.counts.connections == 0)
    #expect(try await makeLoader().data(url).0.status == 200)
  }

  @Test(arguments: [
    "http://127.0.0.2/", "http://0x7f.2/", "http://[::ffff:127.0.0.2]/", "http://169.254.169.254/latest",
    "http://[::1]/",
    "http://127.0.0.1:22/",
  ])
  func eachRedirectIsCheckedAnew(location: String) async throws {
    let server = try LoopbackServer()
    server.route("/a", .redirect(to: "/b"))
    server.route("/b", .redirect(to: location))
    let only = try network("127.0.0.1")
    let loader = makeLoader {
      $0.addressGuard = AddressGuard()
      $0.addressGuard?.allowed = [only]
      $0.addressGuard?.ports = [server.port, 80]
    }
    let error = try await loader.failure(server.url("/a"))
    #expect(error.code == .addressRefused)
    #expect(error.url == server.url("/a"))
    #expect(server.counts.requests == 2)
  }

  @Test
  func aGuardedLoaderLoadsWhatIsAllowedOverItsConnections() async throws {
    let server = try LoopbackServer()
    server.route("*", LoopbackResponse(body: bytes(10)))
    let only = try network("127.0.0.0/8")
    let loader = makeLoader {
      $0.addressGuard = AddressGuard()
      $0.addressGuard?.allowed = [only]
      $0.addressGuard?.ports = nil
    }
    for _ in 0..<3 { #expect(try await loader.data(server.url("/a")).1.count == 10) }
    #expect(server.counts.connections == 1)
  }

  /// A process of its own, for its environment.
  @Test(.enabled(if: isLibcurl))
  func aGuardedLoaderGoesAroundTheProxyUnlessItIsTrusted() async {
    await #expect(processExitsWith: .success) {
      let proxy = try LoopbackServer()
      proxy.route("*", LoopbackResponse(body: bytes(7)))
      unsafe setenv("http_proxy", proxy.url(""), 1)
      unsafe unsetenv("no_proxy")
      unsafe unsetenv("NO_PROXY")
      var options = SystemLoader.Options()
      let plain = SystemLoader(options)
      #expect(try await plain.data("http://nothing.invalid/a").1.count == 7)
      options.addressGuard = AddressGuard()
      #expect(try await SystemLoader(options).failure("http://nothing.invalid/a").code == .cannotResolve)
      options.addressGuard?.trustsProxy = true
      let trusting = SystemLoader(options)
      #expect(try await trusting.data("http://nothing.invalid/a").1.count == 7)
      #expect(try await trusting.failure("http://10.0.0.1/a").code == .addressRefused)
      #expect(proxy.requests.map(\.target) == ["http://nothing.invalid/a", "http://nothing.invalid/a"])
      options.addressGuard = nil
      options.usesProxiesOfEnvironment = false
      #expect(try await SystemLoader(options).failure("http://nothing.invalid/a").code == .cannotResolve)
    }
  }
}
