/// The loader over the system's network stack: `CurlLoader` on Linux, `URLSessionLoader` on Apple's platforms.
public typealias SystemLoader = URLSessionLoader
