import Testing
import UIKit
import Vitrine
import VitrineApple
import VitrineRuntime
import VitrineTestSupport

/// The pipelines for previews in Xcode.
@MainActor
@Suite(.patient)
struct PreviewPipelineTests {
  @Test
  func eachURLHasAPictureOfItsOwnColours() async throws {
    let pipeline = ImagePipeline.preview()
    let (one, other) = ("https://images.invalid/1", "https://images.invalid/2")
    let images = try await (pipeline.image(for: one), pipeline.image(for: other))
    #expect((images.0.width, images.0.height) == (600, 400))
    #expect(images.0[300, 200] != images.1[300, 200])
    #expect(try await ImagePipeline.preview().image(for: one)[300, 200] == images.0[300, 200])
  }

  @Test
  func aPipelineIsTheSameEachTime() {
    for answer in ImagePipeline.PreviewAnswer.allCases {
      #expect(ImagePipeline.preview(answer) === ImagePipeline.preview(answer))
    }
    #expect(ImagePipeline.preview(.failure) !== ImagePipeline.preview(.picture))
  }

  @Test
  func viewsShowTheirFailures() async {
    await #expect {
      try await ImagePipeline.preview(.failure).image(for: "https://images.invalid/1")
    } throws: {
      ($0 as? LoadError)?.code == .badStatus
    }
  }

  @Test
  func viewsShowTheirPlaceholdersUntilTheyLeave() async {
    let task = ImagePipeline.preview(.nothing).imageTask(for: "https://images.invalid/1")
    #expect(task.result == nil)
    task.cancel()
    await #expect(throws: LoadError.self) { try await task.response }
  }
}
