/// A guard that keeps a loader out of private networks, for servers that load untrusted URLs.
///
/// ```swift
/// var options = CurlLoader.Options()
/// options.addressGuard = AddressGuard()
/// ```
/// It checks the URL of each hop, including redirects. It also checks each address before a connection to it, after the
/// name look-up, so a name that changes its address at each look-up (DNS rebinding) does not circumvent it. Addresses
/// are checked by their meaning and not their spelling: `0x7f.1`, `[::ffff:127.0.0.1]`, `[64:ff9b::7f00:1]` and the
/// like are all 127.0.0.1.
///
/// It refuses private, loopback, link-local, multicast, reserved and documentation addresses, and the metadata
/// addresses of clouds (169.254.169.254, fd00:ec2::254, 100.100.100.200, 168.63.129.16). A refused load fails with
/// ``HTTPError/Code/addressRefused``.
public struct AddressGuard: Sendable, Hashable {
  /// The allowed ports.
  ///
  /// Defaults to 80 and 443. `nil` allows all.
  public var ports: Set<Int>? = [80, 443]
  /// A Boolean value that indicates whether http is allowed besides https.
  ///
  /// Defaults to `true`.
  public var allowsPlainHTTP = true
  /// Networks that are allowed although the guard would refuse them.
  ///
  /// Defaults to none.
  public var allowed: [IPNetwork] = []
  /// Further networks to refuse.
  ///
  /// Defaults to none. Include the NAT64 prefix of your network here. These take precedence over ``allowed``.
  public var refused: [IPNetwork] = []
  /// A Boolean value that indicates whether a guarded loader uses a configured proxy, which must then be the guard.
  ///
  /// Defaults to `false`: the loader ignores the proxy and connects directly. A proxy resolves names, so the guard sees
  /// only schemes, ports and addresses in URLs. It does not check the address of the proxy.
  public var trustsProxy = false

  /// Creates a guard with the default rules.
  public init() {}

  /// Returns the reason why a URL is refused, or `nil` if it is allowed.
  ///
  /// A host name alone is never refused: its addresses are checked one by one.
  package func objection(to url: HTTPURL) -> String? {
    guard url.isSecure || allowsPlainHTTP else { return "the address guard allows https only" }
    if let ports, !ports.contains(url.port) { return "the address guard does not allow port \(url.port)" }
    return url.isAddress ? IPAddress(url.host).flatMap { objection(to: $0) } : nil
  }

  /// Returns the reason why an address is refused, or `nil` if it is allowed.
  package func objection(to address: IPAddress) -> String? {
    let all = [address] + address.embedded
    if let network = refused.first(where: { network in all.contains { network.contains($0) } }) {
      return "the address guard refuses \(address), which is in \(network)"
    }
    if isAllowed(address) { return nil }
    // Check the embedded addresses besides the address itself.
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
      ?? (address.isIPv6 && !global.contains { $0.contains(address) } ? "not on the public internet" : nil)
  }

  /// The public parts of IPv6: assigned addresses, and translated IPv4 addresses, which are checked separately.
  private static let global = ["2000::/3", "64:ff9b::/96", "::ffff:0:0/96"].compactMap { IPNetwork($0) }

  /// The registries of special-purpose addresses (RFC 6890 and later ones), and an unregistered one of Azure.
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
