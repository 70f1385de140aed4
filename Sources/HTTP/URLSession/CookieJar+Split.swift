extension CookieJar {
  /// Splits fields that were joined with commas.
  ///
  /// Dates within cookies contain commas too.
  ///
  /// A cookie begins with a name and an equals sign (RFC 6265, 4.1.1); the text after a date's comma does not.
  static func split(_ joined: String) -> [String] {
    var cookies: [String] = []
    for part in joined.split(separator: ",", omittingEmptySubsequences: false) {
      let name = part.drop { $0 == " " }.prefix { $0 != "=" && $0 != ";" }
      let isName = !name.isEmpty && name.count < part.drop { $0 == " " }.count && !name.contains(" ")
      let begins = isName && part.drop { $0 == " " }.dropFirst(name.count).first == "="
      if begins || cookies.isEmpty {
        cookies.append(String(part.drop { $0 == " " }))
      } else {
        cookies[cookies.count - 1] += "," + part
      }
    }
    return cookies
  }
}
