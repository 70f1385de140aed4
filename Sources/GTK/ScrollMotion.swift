/// The motion of a scroll, as frames show it.
///
/// Places and lengths are in points.
struct ScrollMotion {
  /// The friction of GTK's kinetic scrolling, in 1/s: a scroll that is let go of goes on for its speed divided by this.
  private static let friction = 4.0

  /// The points a second that the last two frames have in common; 0 at rest, after a jump and after a turn.
  private(set) var speed = 0.0
  /// True if the scroll goes towards the end, or went there last.
  private(set) var isForward = true
  private var place: Double?
  private var time = Duration.zero
  private var frameSpeed = 0.0
  private var length = 0.0
  private var page = 0.0
  /// The place that was farthest in the direction of the scroll.
  private var farthest = 0.0

  /// The distance that the scroll will go on by itself, if it is not held; negative towards the beginning.
  var rest: Double { speed / Self.friction }

  /// True if a cell that comes into view leaves it again before the scroll rests; it stays for a quarter of a second.
  var isTooFast: Bool { page > 0 && abs(rest) > page }

  /// True if the last frame moved, so that the next one tells more.
  var isMoving: Bool { frameSpeed != 0 }

  /// Notes where a frame has scrolled to; once for each frame.
  ///
  /// The direction turns when a quarter of a page has been scrolled back. A list that has learnt how long it is shows
  /// another place without a scroll.
  mutating func note(_ place: Double, of length: Double, page: Double, at time: Duration) {
    defer { (self.length, self.page) = (length, page) }
    guard let before = self.place, length == self.length else {
      (self.place, self.time, farthest, frameSpeed, speed) = (place, time, place, 0, 0)
      return
    }
    follow(place, page: page)
    guard time > self.time else { return }
    let distance = place - before
    // What is farther than the eye can follow is no motion.
    let isJump = abs(distance) > page * 1.5
    let now = isJump ? 0 : distance / ((time - self.time) / .seconds(1))
    speed = now.sign == frameSpeed.sign ? (abs(now) < abs(frameSpeed) ? now : frameSpeed) : 0
    (self.place, self.time, frameSpeed) = (place, time, now)
  }

  private mutating func follow(_ place: Double, page: Double) {
    if isForward ? place <= farthest - page / 4 : place >= farthest + page / 4 {
      isForward.toggle()
      farthest = place
    } else {
      farthest = isForward ? max(farthest, place) : min(farthest, place)
    }
  }
}
