/// Keeps a loader out of networks that are nobody's business: for servers that load what strangers name.
///
/// ```swift
/// var options = CurlLoader.Options()
/// options.addressGuard = AddressGuard()
/// ```
/// Checked are the URL of each hop, redirects included, and each address that a connection is about to be made to, after the
/// name has been looked up: a name that means another address at each look-up (DNS rebinding) gains nothing. Addresses
/// count by what they mean, not how they are spelled: `0x7f.1`, `[::ffff:127.0.0.1]`, `[64:ff9b::7f00:1]` and the like are all 127.0.0.1.
///
/// Refused are private, loopback, link-local, multicast, reserved and documentation addresses, and those under which clouds
/// tell secrets (169.254.169.254, fd00:ec2::254, 100.100.100.200, 168.63.129.16), with ``HTTPError/Code/addressRefused``.
public struct AddressGuard: Sendable, Hashable {
  /// What a guarded loader does where a proxy is set.
  public struct ProxyRule: Sendable, Hashable {
    let allowsProxies: Bool

    /// Goes to servers directly, whatever proxy is set; the default.
    public static let bypass = ProxyRule(allowsProxies: false)
    /// Uses the proxy, which then must be the guard.
    ///
    /// The proxy looks names up, so only schemes, ports and addresses written in URLs can be checked here; the proxy's own
    /// address is not.
    public static let trust = ProxyRule(allowsProxies: true)
  }

  /// The ports that may be asked; 80 and 443 by default, nil for all.
  public var ports: Set<Int>? = [80, 443]
  /// Whether http is allowed beside https; true by default.
  public var allowsPlainHTTP = true
  /// Networks that are allowed although they would be refused; none by default.
  public var allowed: [IPNetwork] = []
  /// Networks that are refused besides; none by default.
  ///
  /// For a NAT64 prefix of one's own among others. They come before ``allowed``.
  public var refused: [IPNetwork] = []
  /// What to do where a proxy is set; ``ProxyRule/bypass`` by default.
  public var proxies = ProxyRule.bypass

  /// Creates the defaults.
  public init() {}

  /// Says why a URL may not be asked, as far as it tells; nil where nothing speaks against it.
  ///
  /// A name in it tells nothing: its addresses are asked about one by one.
  public func objection(to url: HTTPURL) -> String? {
    guard url.isSecure || allowsPlainHTTP else { return "the address guard allows https only" }
    if let ports, !ports.contains(url.port) { return "the address guard does not allow port \(url.port)" }
    return url.isAddress ? IPAddress(url.host).flatMap { objection(to: $0) } : nil
  }

  /// Says why no connection may be made to an address; nil where nothing speaks against it.
  public func objection(to address: IPAddress) -> String? {
    let all = [address] + address.embedded
    if let network = refused.first(where: { network in all.contains { network.contains($0) } }) {
      return "the address guard refuses \(address), which is in \(network)"
    }
    if isAllowed(address) { return nil }
    // What an address leads to counts beside what it is.
    for candidate in all where !isAllowed(candidate) {
      guard let kind = Self.kind(of: candidate) else { continue }
      let detour = candidate == address ? "" : " for \(candidate)"
      return "the address guard refuses \(address), which is \(kind)\(detour)"
    }
    return nil
  }

  private func isAllowed(_ address: IPAddress) -> Bool {
    allowed.contains { $0.contains(address) }
  }

  private static func kind(of address: IPAddress) -> String? {
    special.first { $0.network.contains(address) }?.kind
      ?? (address.isIPv6 && !global.contains { $0.contains(address) } ? "not of the public internet" : nil)
  }

  /// All that IPv6 has for the public: assigned addresses, and IPv4 as translators see it, which is looked at by itself.
  private static let global = ["2000::/3", "64:ff9b::/96", "::ffff:0:0/96"].compactMap { IPNetwork($0) }

  /// The registries of special addresses (RFC 6890 and what came later), and one that Azure took without.
  private static let special: [(network: IPNetwork, kind: String)] = [
    ("0.0.0.0/8", "this machine"), ("127.0.0.0/8", "loopback"), ("10.0.0.0/8", "private"),
    ("172.16.0.0/12", "private"), ("192.168.0.0/16", "private"), ("100.64.0.0/10", "private to a provider"),
    ("169.254.0.0/16", "link-local"), ("168.63.129.16/32", "for metadata"), ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "for documentation"), ("198.51.100.0/24", "for documentation"),
    ("203.0.113.0/24", "for documentation"), ("192.88.99.0/24", "a relay"), ("198.18.0.0/15", "for benchmarks"),
    ("224.0.0.0/4", "multicast"), ("240.0.0.0/4", "reserved"),
    ("::/128", "this machine"), ("::1/128", "loopback"), ("fc00::/7", "private"), ("fe80::/10", "link-local"),
    ("fec0::/10", "private"), ("ff00::/8", "multicast"), ("2001:db8::/32", "for documentation"),
    ("3fff::/20", "for documentation"), ("2001:2::/48", "for benchmarks"), ("2001:10::/28", "no address"),
    ("2001:20::/28", "no address"),
  ].compactMap { text, kind in IPNetwork(text).map { ($0, kind) } }
}
