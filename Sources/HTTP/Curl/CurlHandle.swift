import CVitrineCurl
import VitrineRuntime

/// A libcurl handle, either set up for a hop of a ``CurlTransfer`` or idle and reusable.
///
/// Belongs to the engine's thread.
@safe
final class CurlHandle {
  let easy: UnsafeMutableRawPointer
  private var list: UnsafeMutablePointer<curl_slist>?
  private let message: UnsafeMutablePointer<CChar>

  /// The transfer of the callbacks.
  var transfer: CurlTransfer?
  /// The reason why the guard refused one of the addresses.
  private(set) var refusal: String?
  private var addressGuard: AddressGuard?
  private unowned let engine: CurlEngine

  init?(engine: CurlEngine) {
    guard let easy = unsafe vitrine_curl_easy_init() else { return nil }
    unsafe self.easy = easy
    unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
    // The memory is new, and has the length that libcurl requires.
    unsafe message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    self.engine = engine
  }

  deinit {
    // The engine removes the handle from the multi handle before it releases it.
    unsafe vitrine_curl_easy_cleanup(easy)
    unsafe vitrine_curl_slist_free_all(list)
    unsafe message.deallocate()
  }

  /// Returns the object of an easy handle.
  static func of(_ easy: UnsafeMutableRawPointer) -> CurlHandle? {
    guard let pointer = unsafe vitrine_curl_get_private(easy) else { return nil }
    // `prepare` sets the pointer, only on handles in use, which the engine retains.
    return unsafe Unmanaged<CurlHandle>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Sets up the handle for the next hop of a transfer.
  func prepare(for transfer: CurlTransfer, options: CurlLoader.Options, share: UnsafeMutableRawPointer?) {
    self.transfer = transfer
    let request = transfer.request
    let me = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe vitrine_curl_easy_reset(easy)
    unsafe message.pointee = 0
    refusal = nil
    addressGuard = options.addressGuard
    set(CURLOPT_URL, transfer.url.string)
    unsafe set(CURLOPT_PRIVATE, me)
    unsafe set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(message))
    set(CURLOPT_NOSIGNAL, 1)
    unsafe vitrine_curl_set_http_only(easy)
    unsafe vitrine_curl_set_quick_exit(easy)
    // The engine follows redirects, since libcurl would send `X-Api-Key` and the like to another host.
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    set(CURLOPT_HTTP09_ALLOWED, 0)
    // Canonical URLs have no dot segments, except in names of objects, which are sent as they are signed.
    set(CURLOPT_PATH_AS_IS, 1)
    // The transfer waits for a connection in progress, which may turn out to be HTTP/2, instead of opening another. TLS
    // negotiates that. Without TLS, libcurl 7.88 makes all transfers wait for the first response, and then exceeds the
    // engine's limit.
    set(CURLOPT_PIPEWAIT, transfer.url.isSecure ? 1 : 0)
    set(CURLOPT_STREAM_WEIGHT, 16 << transfer.priority.rawValue)
    set(CURLOPT_TCP_NODELAY, 1)
    set(CURLOPT_BUFFERSIZE, 64 << 10)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    setMethod(transfer.chain.request)

    set(CURLOPT_CONNECTTIMEOUT_MS, Int(min(max(request.timeouts.connect / .milliseconds(1), 1), 1e9)))

    unsafe set(CURLOPT_SHARE, share)
    if let file = options.certificateFile ?? CurlLibrary.certificateFile {
      set(CURLOPT_CAINFO, file)
      unsafe set(CURLOPT_CAPATH, UnsafeMutableRawPointer?.none)
    }
    let bypassesProxies = options.addressGuard.map { !$0.trustsProxy } ?? false
    if !options.usesProxiesOfEnvironment || bypassesProxies { set(CURLOPT_PROXY, "") }
    // With a proxy in between, the only visible address would be the proxy's.
    if bypassesProxies { unsafe checkAddresses(me) }
    // Older versions are broken (RFC 8996), even if the system still allows them.
    set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    if let identity = options.clientCertificate {
      set(CURLOPT_SSLCERT, identity.file)
      set(CURLOPT_SSLKEY, identity.keyFile ?? identity.file)
      if let password = identity.password { set(CURLOPT_KEYPASSWD, password) }
    }
    set(CURLOPT_USERAGENT, options.userAgent)
    // Some servers send an object with the coding in which it is stored, unasked.
    if transfer.chain.decodesBodies { set(CURLOPT_ACCEPT_ENCODING, "") }
    setHeaders(transfer.chain.headers(with: transfer.cookies), announcesBody: transfer.chain.request.announcesBody)

    unsafe setCallbacks(me)
  }

  /// Releases the transfer, so that the handle can be reused.
  func clear() {
    transfer = nil
    unsafe vitrine_curl_easy_reset(easy)
    unsafe vitrine_curl_slist_free_all(list)
    unsafe list = nil
  }

  func resume() {
    unsafe vitrine_curl_easy_pause(easy, CURLPAUSE_CONT)
  }

  /// Returns `true` if a connection to an address is allowed.
  fileprivate func allows(_ address: IPAddress) -> Bool {
    guard transfer != nil, let addressGuard else { return false }
    guard let objection = addressGuard.objection(to: address) else { return true }
    refusal = objection
    return false
  }

  /// The time of the engine's current round.
  fileprivate var now: Duration { engine.now }

  /// Returns libcurl's message for an error.
  func explanation(of result: CURLcode) -> String {
    if unsafe message.pointee != 0 { return unsafe String(cString: message) }
    return unsafe String(cString: vitrine_curl_strerror(result))
  }

  // MARK: - Options

  private func set(_ option: CURLoption, _ value: Int) {
    unsafe vitrine_curl_set_long(easy, option, value)
  }

  private func set(_ option: CURLoption, _ value: String) {
    unsafe vitrine_curl_set_string(easy, option, value)
  }

  private func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
    unsafe vitrine_curl_set_pointer(easy, option, value)
  }

  /// Lets the guard check each address before libcurl makes a socket for it.
  private func checkAddresses(_ me: UnsafeMutableRawPointer) {
    unsafe set(CURLOPT_OPENSOCKETDATA, me)
    unsafe vitrine_curl_set_open_socket(easy) { context, _, address in
      guard let context = unsafe context, let address = unsafe address else { return -1 }
      // The context is the handle, as above.
      let handle = unsafe Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
      guard let peer = unsafe IPAddress(socketAddress: vitrine_curl_address(address)), handle.allows(peer) else {
        return -1
      }
      let place = unsafe address.pointee
      return socket(place.family, place.socktype | CInt(SOCK_CLOEXEC.rawValue), place.protocol)
    }
  }

  private func setCallbacks(_ me: UnsafeMutableRawPointer) {
    unsafe set(CURLOPT_HEADERDATA, me)
    unsafe set(CURLOPT_WRITEDATA, me)
    // Each callback returns the number of bytes that it has taken. Any other number aborts the transfer.
    unsafe vitrine_curl_set_callback(easy, CURLOPT_HEADERFUNCTION) {
      unsafe receive($0, $1 * $2, $3) { handle, line in
        unsafe handle.transfer?.receive(headerLine: line, now: handle.now) == true ? line.count : 0
      }
    }
    unsafe vitrine_curl_set_callback(easy, CURLOPT_WRITEFUNCTION) {
      unsafe receive($0, $1 * $2, $3) { handle, body in
        switch unsafe handle.transfer?.receive(body: body, now: handle.now) ?? .stop {
        case .proceed: body.count
        case .pause: Int(CURL_WRITEFUNC_PAUSE)
        case .stop: 0
        }
      }
    }
  }

  private func setMethod(_ request: HTTPRequest) {
    if request.method == .head { set(CURLOPT_NOBODY, 1) }
    if request.announcesBody {
      set(CURLOPT_POST, 1)
      setBody(request.body ?? Data())
    }
    if ![.get, .head, .post].contains(request.method) || request.method == .get && request.announcesBody {
      set(CURLOPT_CUSTOMREQUEST, request.method.name)
    }
    // libcurl resends any request, a POST too, if a reused connection turns out to be closed.
    if !request.isIdempotent { set(CURLOPT_FRESH_CONNECT, 1) }
  }

  private func setBody(_ body: Data) {
    set(CURLOPT_POSTFIELDSIZE, body.count)
    guard !body.isEmpty else { return set(CURLOPT_COPYPOSTFIELDS, "") }
    // libcurl copies the number of bytes set by the option above, and changes none.
    unsafe body.withUnsafeBytes {
      unsafe set(CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
    }
  }

  private func setHeaders(_ headers: HTTPFields, announcesBody: Bool) {
    for field in headers {
      // With a colon and no value, libcurl would omit the field.
      addHeader(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    if headers["Accept-Encoding"] == nil { addHeader("Accept-Encoding: identity") }
    if announcesBody {
      // By default libcurl labels any body a form, and waits a second for 100 Continue before a long one.
      for name in ["Content-Type", "Expect"] where headers[name] == nil { addHeader("\(name):") }
    }
    if let list = unsafe list { unsafe set(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(list)) }
  }

  private func addHeader(_ line: String) {
    if let longer = unsafe vitrine_curl_slist_append(list, line) { unsafe list = longer }
  }
}

/// Passes the bytes of a callback of libcurl to its handle, and returns the number that the callback returns.
private func receive(
  _ bytes: UnsafeMutablePointer<CChar>?,
  _ count: Int,
  _ context: UnsafeMutableRawPointer?,
  _ body: (CurlHandle, UnsafeRawBufferPointer) -> Int,
) -> Int {
  guard let context = unsafe context, let bytes = unsafe bytes else { return 0 }
  // `prepare` has set the context, and the bytes live as long as this call.
  let handle = unsafe Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
  return unsafe body(handle, UnsafeRawBufferPointer(start: bytes, count: count))
}
