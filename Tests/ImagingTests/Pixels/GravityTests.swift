import Testing

@testable import VitrineImaging

/// Places of parts and of canvases, in whole pixels.
struct GravityTests {
  @Test(arguments: [
    // The sides of the part and of the whole, and where the part begins. Halves become even numbers: 75.5 is 76.
    (Gravity.center, 50.0, 200.0, 1.0, 76.0), (.center, 51, 200, 1, 75), (.center, 49, 200, 1, 76),
    (.center, 53, 200, 1, 74), (.center, 200, 200, 1, 0),
    (.place(.left, x: 2.5, y: 0), 50, 200, 1, 2), (.place(.left, x: 3.5, y: 0), 50, 200, 1, 4),
    (.place(.left, x: 2.5, y: 0), 50, 200, 3, 8), (.place(.right, x: 10, y: 0), 50, 200, 0.5, 145),
    (.place(.left, x: 0.25, y: 0), 50, 200, 3, 50), (.place(.left, x: 0.9, y: 0), 50, 200, 1, 150),
    (.place(.center, x: -10, y: 0), 50, 200, 2, 56), (.place(.left, x: -3, y: 0), 50, 200, 1, 0),
    (.focus(x: 0.5, y: 0), 50, 200, 1, 75), (.focus(x: 0.5, y: 0), 51, 201, 1, 75),
    (.focus(x: 1, y: 0), 50, 200, 1, 150),
  ])
  func aPlaceIsThatOfImgproxy(gravity: Gravity, part: Double, whole: Double, ratio: Double, start: Double) {
    #expect(gravity.origin(of: (part, 1), in: (whole, 1), ratio: ratio).x == start)
  }
}
