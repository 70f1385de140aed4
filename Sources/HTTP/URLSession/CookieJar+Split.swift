extension CookieJar {
  /// Splits fields that were joined with commas.
  ///
  /// Dates within cookies contain commas too.
  ///
  /// A cookie begins with a name and an equals sign (RFC 6265, 4.1.1); the text after a date's comma does not.
  static func split(_ joined: String) -> [String] {
    var cookies: [String] = []
    for part in joined.split(separator: ",", omittingEmptySubsequences: false) {
      let text = part.drop { $0 == " " }
      let name = text.prefix { $0 != "=" && $0 != ";" }
      let begins = !name.isEmpty && !name.contains(" ") && text.dropFirst(name.count).first == "="
      if begins || cookies.isEmpty {
        cookies.append(String(text))
      } else {
        cookies[cookies.count - 1] += "," + part
      }
    }
    return cookies
  }
}
