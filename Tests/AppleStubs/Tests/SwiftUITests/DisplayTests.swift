import SwiftUI
import Testing

private struct Fading: View {
  @State
  private var isOn = false
  var body: some View {
    Button("plain") { isOn.toggle() }
    Button("animated") { withAnimation(.linear(duration: 2)) { isOn.toggle() } }
    Text(isOn ? "on" : "off").animation(.easeIn, value: isOn)
    Text("still").transaction { $0.animation = nil }
  }
}

@Suite
@MainActor
struct DisplayTests {
  private let picture = CGImage._make(width: 4, height: 3)

  @Test
  func picturesTellHowTheyAreShown() {
    let view = VStack {
      Image(picture, scale: 2, orientation: .right, label: Text("a cat"))
        .resizable()
        .interpolation(.high)
        .antialiased(true)
        .allowedDynamicRange(.high)
        .aspectRatio(contentMode: .fill)
        .frame(width: 40, height: 30)
        .clipShape(RoundedRectangle(cornerRadius: 4))
        .opacity(0.5)
        .transition(.opacity)
      Image(decorative: picture, scale: 1)
      Image(systemName: "photo").symbolRenderingMode(.hierarchical).accessibilityHidden(true)
      Image("asset").accessibilityLabel("other").symbolEffect(.pulse)
    }
    let images = _Host(view).images
    #expect(images.count == 4)
    #expect(images[0].cgImage === picture)
    #expect(images[0].scale == 2 && images[0].orientation == .right)
    #expect(images[0].label == "a cat" && images[0].isResizable && !images[0].isDecorative)
    #expect(images[0].attributes.contentMode == .fill)
    #expect(images[0].attributes.width == 40 && images[0].attributes.height == 30)
    #expect(images[0].attributes.clipShape == "RoundedRectangle(4.0)")
    #expect(images[0].attributes.opacity == 0.5 && images[0].attributes.transition == "opacity")
    #expect(images[0].interpolation == .high && images[0].dynamicRange == .high)
    #expect(images[1].isDecorative && images[1].label == nil && !images[1].isResizable)
    #expect(images[2].systemName == "photo" && images[2].attributes.accessibilityHidden)
    #expect(images[2].symbolRenderingMode == .hierarchical)
    #expect(images[3].label == "asset" && images[3].attributes.accessibilityLabel == "other")
    #expect(images[3].attributes.symbolEffect == "PulseSymbolEffect")
  }

  @Test
  func changesTellTheirAnimation() {
    let host = _Host(Fading())
    host.buttons[0].tap()
    host.flush()
    #expect(host.animation == nil)
    #expect(host.textElements[2].animation == .easeIn)
    host.buttons[1].tap()
    host.flush()
    #expect(host.animation == .linear(duration: 2))
    #expect(host.textElements[0].animation == .linear(duration: 2))
    #expect(host.textElements[2].animation == .easeIn)
    #expect(host.textElements[3].animation == nil)
    var transaction = Transaction(animation: .default)
    transaction.disablesAnimations = true
    withTransaction(transaction) { host.buttons[0].tap() }
    host.flush()
    #expect(host.transaction.disablesAnimations)
    #expect(host.textElements[2].animation == .default)
  }

  @Test
  func geometryReadersGetTheSize() {
    let reader = GeometryReader { Text("\(Int($0.size.width))x\(Int($0.size.height))") }
    let host = _Host(
      VStack {
        reader
        reader.frame(width: 50)
      },
      size: CGSize(width: 100, height: 200),
    )
    #expect(host.texts == ["100x200", "50x200"])
    host.size.width = 300
    host.flush()
    #expect(host.texts == ["300x200", "50x200"])
  }

  @Test
  func timelinesFollowTheClock() {
    @ViewBuilder
    func view(paused: Bool) -> some View {
      TimelineView(.animation(paused: paused)) { Text("\($0.date.timeIntervalSinceReferenceDate)") }
      TimelineView(.animation(minimumInterval: 1, paused: false)) {
        Text("\($0.date.timeIntervalSinceReferenceDate)")
      }
      TimelineView(.periodic(from: Date(timeIntervalSinceReferenceDate: 0), by: 0.5)) {
        Text("\($0.date.timeIntervalSinceReferenceDate)")
      }
    }
    let host = _Host(Group { view(paused: false) })
    #expect(host.texts == ["0.0", "0.0", "0.0"])
    host._advance(by: 0.75)
    #expect(host.texts == ["0.75", "0.0", "0.5"])
    host.update(Group { view(paused: true) })
    host._advance(by: 0.5)
    #expect(host.texts == ["0.75", "1.25", "1.0"])
  }

  @Test
  func timelinesAreNotWalkedWithoutNeed() {
    let host = _Host(Text("still"))
    host._advance(by: 1)
    #expect(host.renders == 1)
  }

  @Test
  func layersAndContainers() {
    let none: Text? = nil
    let view = HStack {
      ZStack { Text("base").overlay { Text("over") }.background { Text("under") } }
      none
      Optional(Text("some"))
      List([1, 2], id: \.self) { Text("row \($0)") }
      LazyVGrid(columns: [GridItem(.adaptive(minimum: 10))]) { Text("cell") }
      ProgressView(value: 0.25)
      ProgressView()
      Color.red
      Rectangle().fill(.blue)
      Spacer()
    }
    let host = _Host(view.background(Color.white).padding().padding(3).clipped())
    #expect(host.texts == ["under", "base", "over", "some", "row 1", "row 2", "cell"])
    #expect(host.progress == [0.25, nil])
    #expect(host.colors == ["red"])
    #expect(host.kinds.contains("LazyVGrid"))
    #expect(host.kinds.filter { $0 == "ProgressView" }.count == 2)
  }

  @Test
  func equalityNeedsNoActor() async {
    let same = await Task.detached { Color.red == Color.red && Image("a") == Image("a") && Text("a") != Text("b") }
      .value
    #expect(same)
  }

  @Test
  func theEnvironmentOfTheHost() {
    struct Reads: View {
      @Environment(\.accessibilityReduceMotion)
      private var calm
      @Environment(\.scenePhase)
      private var phase
      @Environment(\.colorScheme)
      private var scheme
      var body: some View { Text("\(calm) \(phase) \(scheme)") }
    }
    let host = _Host(Reads())
    #expect(host.texts == ["false active light"])
    host.environment._accessibilityReduceMotion = true
    host.environment.scenePhase = .background
    host.flush()
    #expect(host.texts == ["true background light"])
  }
}
