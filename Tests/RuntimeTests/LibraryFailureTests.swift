import Foundation
import Testing
import VitrineRuntime
import VitrineTestSupport

struct LibraryFailureTests {
  private let reason = "cannot open shared object file: No such file or directory"

  /// The list of packages has those of Debian 12.
  @Test(arguments: [
    "libavif.so.15", "libheif.so.1", "libjxl.so.0.7", "libtiff.so.6", "librsvg-2.so.2", "libcurl.so.4",
  ])
  func thePackageOfALibraryIsNamed(library: String) throws {
    let list = try String(contentsOf: Repository.folder.appending(path: "Scripts/packages.txt"), encoding: .utf8)
    let packages = list.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }

    let package = try #require(LibraryFailure("\(library): \(reason)").debianPackage)

    #expect(packages.contains(package), "\(package)")
    #expect(LibraryFailure("/usr/lib/\(library): file too short").debianPackage == package)
    #expect("\(LibraryFailure("\(library): x"))" == "\(library): x (in Debian it is the package \(package))")
  }

  @Test
  func aReasonThatNamesNoLibraryHasNoPackage() {
    #expect(LibraryFailure("it has no curl_easy_init").debianPackage == nil)
    #expect("\(LibraryFailure("it has no curl_easy_init"))" == "it has no curl_easy_init")
  }
}
