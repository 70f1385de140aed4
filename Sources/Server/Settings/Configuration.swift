import Vitrine
import VitrineCaching
public import VitrineHTTP
public import VitrineImaging
package import VitrineRuntime
public import VitrineS3
public import VitrineSandbox
public import VitrineTiers

extension ThumbnailServer {
  /// The settings of a server.
  public struct Configuration: Sendable {
    // MARK: Listening

    /// The address to listen on: numeric, a name of this machine, or `unix:` and the path of a socket; empty for all
    /// addresses.
    ///
    /// Defaults to `127.0.0.1`, since TLS, HTTP/2 and the open internet are the business of a proxy in front.
    public var host = "127.0.0.1"
    /// The port; 0 for a free one.
    ///
    /// Defaults to 8080.
    public var port = 8080
    /// The number of threads that read requests and write answers.
    ///
    /// Defaults to the number of cores. Connections are dealt out evenly.
    public var threads = CoreBudget.machine.count
    /// The maximum number of open connections.
    ///
    /// Defaults to 4,096. If more come, the ones idle for longest are closed.
    public var maxConnections = 4096
    /// The maximum size of a request's head, in bytes.
    ///
    /// Defaults to 16 KiB; a larger one is answered with 431 or 414.
    public var maxHeadBytes = 16 << 10
    /// The time within which a new connection must deliver a whole head.
    ///
    /// Defaults to 10 seconds.
    public var headTime = Duration.seconds(10)
    /// The time for which a connection is kept between two requests.
    ///
    /// Defaults to 60 seconds.
    public var idleTime = Duration.seconds(60)
    /// The time to send an answer, beside a second for every 16 KiB.
    ///
    /// Defaults to 20 seconds.
    public var sendTime = Duration.seconds(20)

    // MARK: URLs

    /// The settings of URLs: signatures, presets, allowed sources.
    ///
    /// ``localRoot`` and ``addressGuard`` decide whether files are allowed, and which addresses.
    public var urls = ThumbnailURLs.Configuration()
    /// The settings for headers of requests.
    public var negotiation = Negotiation.Configuration()
    /// The picture of the option `watermark`, as a path; `nil` for none, the default.
    public var watermark: String?
    /// A Boolean value that indicates whether drawings (SVG) become pictures where the URL names no format.
    ///
    /// Defaults to `false`: a drawing is passed on as it is, with a policy that lets no script in it run.
    public var rasterizesDrawings = false

    // MARK: Sources

    /// The folder of local sources; `nil` for none, the default.
    ///
    /// Nothing outside can be reached: neither by `..` nor by a symbolic link, which are refused.
    public var localRoot: String?
    /// The time for which a local file is not looked at again.
    ///
    /// Defaults to 60 seconds.
    public var localFreshness = Duration.seconds(60)
    /// The guard for http and https sources; `nil` for none.
    ///
    /// By default it refuses private networks.
    public var addressGuard: AddressGuard? = AddressGuard()
    /// The maximum size of a source, in bytes.
    ///
    /// Defaults to 50 MB.
    public var maxSourceBytes = 50_000_000
    /// The maximum number of pixels of a source.
    ///
    /// Defaults to 50 million.
    public var maxSourcePixels = 50_000_000
    /// The maximum number of concurrent transfers from one host.
    ///
    /// Defaults to 8.
    public var connectionsPerHost = 8

    /// The server, the region and the credentials of the buckets in ``urls`` and of ``durable``; `nil` for the ones of
    /// the environment (`AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID` and so on), the default.
    public var s3: S3Configuration?

    // MARK: Work

    /// The maximum number of concurrent decodes.
    ///
    /// Defaults to the number of cores.
    public var maxConcurrentDecodes = CoreBudget.machine.count
    /// The maximum number of images that are under way at once: that wait for their source or their turn, or are made.
    ///
    /// Defaults to 320. A request beyond is answered at once with 503, unless another client has more of them: then it
    /// takes the place of the last of that one's. Of them, twice ``maxConcurrentDecodes`` are made at once, in turns of
    /// the clients, and ``maxConcurrentDecodes`` more of clients that have none of these.
    public var maxImages = 320
    /// The time for one image, from the request to the answer.
    ///
    /// Defaults to 60 seconds.
    public var requestTime = Duration.seconds(60)
    /// The time to decode one image.
    ///
    /// Defaults to 10 seconds.
    public var decodeTime = Duration.seconds(10)
    /// A Boolean value that indicates whether the decoded part of a damaged source is an answer rather than an error.
    ///
    /// Defaults to `true`, as browsers and imgproxy show such images. The answer has the field `Vitrine-Damage`
    /// (`truncated` or `corrupt`), and is fresh for at most ``minAge``, since the source may be mended. With `false`, a
    /// damaged source is answered with 422.
    public var showsDamaged = true
    /// The limits of animations that are answered, of which the rest is left out.
    ///
    /// Defaults to 250 frames and 50 million pixels of all frames together.
    public var animationLimits = EncoderRegistry.AnimationLimits()
    /// The formats that are decoded in other processes.
    ///
    /// Defaults to the external ones.
    public var sandbox = Sandbox.Formats.external
    /// The path of `vitrine-codecs`; defaults to `nil`, beside the program.
    public var codecsProgram: String?
    /// The number of images after which a process is replaced by a new one.
    ///
    /// Defaults to 1,000. With 1, a file that takes over its decoder never sees another image; each then costs the start
    /// of a process. What an image leaves in memory is cleared in any case.
    public var imagesPerProcess = 1000
    /// The memory that the server may use, in bytes.
    ///
    /// Defaults to the memory of the control group or of the machine. Decodes share a quarter of it, and so do images
    /// that are being sent or kept in memory; kept ones take at most a sixteenth, and at most 32 MB. One image may take
    /// half of it to be decoded or encoded, and have a pixel for each 32 bytes of it.
    public var memory: Int

    // MARK: Caching

    /// The folder of the cache; `nil` for none.
    public var cacheFolder: String?
    /// The maximum size of the cache, in bytes.
    ///
    /// Defaults to 1 GB.
    public var cacheBytes = 1_000_000_000
    /// The bucket in which everything cached outlives this machine and serves others, as `s3://bucket/prefix`; `nil` for
    /// none, the default.
    ///
    /// It is asked after the folder of the cache, through ``s3``. Servers that have the same prefix share what they make.
    public var durable: String?
    /// The tiers that several servers share, behind the folder of the cache.
    ///
    /// Defaults to none. Servers that share a tier which keeps leases, such as a `RedisCache`, fetch and make each image
    /// once together.
    public var sharedTiers: [TieredDataCache.Tier] = []
    /// The settings of that sharing of work; `maxWait` should be less than ``requestTime``.
    ///
    /// Defaults to `nil`, for the defaults of `WorkCoordination`.
    public var coordination: (@Sendable (inout WorkCoordination) -> Void)?
    /// The minimum `max-age` of answers.
    ///
    /// Defaults to a minute.
    ///
    /// It is added to the freshness of a source that has less, unless that forbids storing.
    public var minAge = Duration.seconds(60)
    /// The maximum `max-age` of answers.
    ///
    /// Defaults to a year.
    public var maxAge = Duration.seconds(31_536_000)
    /// The time for which a source is fresh that says nothing about it, and not when it changed.
    ///
    /// Defaults to 4 hours.
    public var defaultAge = Duration.seconds(4 * 3600)
    /// An image for errors, as a path, or as a source in a URL is written; `nil` for text, the default.
    public var placeholder: String?
    /// The status of answers with that image; `nil` for the error's own, the default.
    public var placeholderStatus: Int?
    /// The `max-age` of answers with that image; `nil`, the default, for the errors' own: 10 seconds if there is no such
    /// source, and otherwise none.
    public var placeholderAge: Duration?

    // MARK: Clients

    /// The value of `Access-Control-Allow-Origin`; `nil` for none, the default.
    public var allowedOrigin: String?
    /// The beginning of the URLs for viewers that zoom, such as `https://images.example.org`, which their descriptions name;
    /// empty for the host that the client has asked, and `nil`, the default, for no such URLs.
    ///
    /// They are `/iiif/3/…` (IIIF Image API 3.0, level 1) and `/dzi/…` (Deep Zoom). IIIF wants all origins allowed, so
    /// ``allowedOrigin`` is then `*` unless it is set.
    public var zoomBase: String?

    /// The value of `Access-Control-Allow-Origin`; `nil` for none.
    var sharedOrigin: String? { allowedOrigin ?? (zoomBase == nil ? nil : "*") }
    /// The token that `DELETE` and `PURGE` need, as `Authorization: Bearer`; `nil` refuses both, the default.
    public var purgeToken: String?
    /// The token that `/metrics` needs; `nil` for none, the default.
    public var metricsToken: String?
    /// A Boolean value that indicates whether `X-Forwarded-For` names the client.
    ///
    /// Defaults to `false`.
    public var trustsForwardedFor = false
    /// The URL of a collector of OpenTelemetry's, such as `http://localhost:4318`, to which spans are sent as JSON; `nil`,
    /// the default, for none.
    ///
    /// Requests with a sampled `traceparent` have spans. Without a `traceparent` a request has spans if work begins for it:
    /// not if memory answers it, or if it is refused at once.
    public var traceCollector: String?
    /// A Boolean value that indicates whether servers of sources get the `traceparent` of the request that loads them.
    ///
    /// Defaults to `false`, since they may be strangers'.
    public var tracesSources = false

    // MARK: Testing

    /// The loader of http and https sources; `nil` for libcurl.
    package var loader: (any DataLoader)?
    /// The clock.
    package var clock: any TimeSource = .system
    /// The limits of the tier in a bucket.
    package var durableLimits = TieredDataCache.RemoteLimits.bucket

    /// Creates the default settings.
    public init() {
      memory = MemoryLimit.bytes
      (animationLimits.frameCount, animationLimits.pixelCount) = (250, 50_000_000)
    }
  }
}
