import VitrineRuntime
import VitrineServing

var configuration = ThumbnailServer.Configuration()
configuration.localRoot = CommandLine.arguments.dropFirst().first
configuration.cacheFolder = CommandLine.arguments.dropFirst(2).first
let server = try ThumbnailServer(configuration)
try server.start()
print("http://127.0.0.1:\(server.port)")
while true { pause() }
