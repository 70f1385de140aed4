import Testing
@testable import Vitrine
import VitrineImaging
import VitrineRuntime

/// Every default that a doc comment states.
struct DefaultsTests {
  @Test
  func memoryIsAFifthOfWhatThereIsUpTo768MB() {
    #expect(PlatformDefaults.memoryCostLimit(of: 1 << 30) == (1 << 30) / 5)
    #expect(PlatformDefaults.memoryCostLimit(of: 64 << 30) == 768 << 20)
    let pipeline = ImagePipeline(.ephemeral) { configuration in
      #expect(configuration.memoryCache?.costLimit == PlatformDefaults.memoryCostLimit(of: MemoryLimit.bytes))
      #expect(configuration.diskCache == nil)
      #expect(configuration.isCoalescingEnabled)
      #expect(configuration.maxConcurrentDecodeBytes == MemoryLimit.bytes / 4)
    }
    #expect(pipeline.loadCount == 0)
  }

  @Test
  func diskIs300MBAndLessWhereLittleIsFree() {
    #expect(PlatformDefaults.diskSizeLimit(free: 100 << 30) == 300 << 20)
    #expect(PlatformDefaults.diskSizeLimit(free: 1000 << 20) == 100 << 20)
    #expect(PlatformDefaults.diskSizeLimit(free: 0) == 8 << 20)
  }

  @Test
  func filesOfAProgramAreBesideItAndWhereDataIs() {
    #if !VITRINE_APPLE
    func folders(_ environment: [String: String]) -> [String] {
      PlatformDefaults.resourceFolders(environment: environment, executable: "/opt/frame/bin/frame")
    }
    #expect(
      folders(["XDG_DATA_HOME": "/data", "XDG_DATA_DIRS": "/a:b:/c"])
        == ["/opt/frame/bin", "/data/frame", "/a/frame", "/c/frame"]
    )
    #expect(folders([:]).suffix(2) == ["/usr/local/share/frame", "/usr/share/frame"])
    #endif
  }

  @Test
  func theCacheFolderIsTheProgramsInTheUsers() {
    func folder(_ environment: [String: String], _ program: String) -> String {
      PlatformDefaults.cacheFolder(environment: environment, program: program).path
    }
    #if !VITRINE_APPLE
    #expect(folder(["XDG_CACHE_HOME": "/caches"], "/usr/bin/frame") == "/caches/frame/vitrine")
    #expect(folder(["XDG_CACHE_HOME": "caches"], "frame").hasSuffix("/.cache/frame/vitrine"))
    #expect(folder(["XDG_CACHE_HOME": "caches", "HOME": "/home/zoe"], "frame") == "/home/zoe/.cache/frame/vitrine")
    #expect(folder([:], "").hasSuffix("/.cache/swift/vitrine"))
    #else
    let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?.path ?? ""
    #expect(folder([:], "/usr/bin/frame") == "\(caches)/frame/vitrine")
    #endif
  }

  @Test
  func aRequestAsksForTheWholeImageAsTheHeadersAllow() {
    let request = ImageRequest(url: "https://example.org/a.jpg")
    #expect(request.size == nil)
    #expect(request.processors.isEmpty)
    #expect(request.priority == .normal)
    #expect(request.quality == .balanced)
    #expect(request.frame == 0)
    #expect(request.cachePolicy == .standard)
    #expect(request.headers.isEmpty)
    #expect(request.significantHeaders.isEmpty)
    #expect(request.cachePartition == nil)
    #expect(request.cacheID == nil)
  }
}
