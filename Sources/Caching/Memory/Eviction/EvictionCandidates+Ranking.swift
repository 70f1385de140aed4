extension EvictionCandidates {
  /// Returns the fewest places that free enough, by descending rank.
  ///
  /// Of equal ranks the one unused for longer comes first. `rank` is called once for each entry and must return 0 or
  /// more.
  func highest(
    freeing cost: Int,
    count: Int,
    rank: (_ place: Int, _ entry: EvictionCandidate) -> Float,
  ) -> [Int] {
    var ranked: [(place: Int, rank: Float, cost: Int, age: UInt32)] = []
    ranked.reserveCapacity(numbers.count)
    var costs = ScoreHistogram()
    var counts = ScoreHistogram()
    for place in numbers {
      guard let entry = self[place], entry.isEvictable else { continue }
      let rank = rank(place, entry)
      ranked.append((place, rank, entry.cost, entry.age))
      if cost > 0 { costs.add(rank, size: entry.cost) }
      if count > 0 { counts.add(rank, size: 1) }
    }
    // Sort only the entries that will leave, and the few that share the last bucket with them.
    let lowest = min(
      cost > 0 ? costs.bucket(freeing: cost) : Int.max,
      count > 0 ? counts.bucket(freeing: count) : Int.max,
    )
    ranked.removeAll { ScoreHistogram.bucket(of: $0.rank) < lowest }
    ranked.sort { ($0.rank, $0.age, $1.place) > ($1.rank, $1.age, $0.place) }
    var (freed, taken) = (0, 0)
    let victims = ranked.prefix { candidate in
      guard freed < cost || taken < count else { return false }
      freed += candidate.cost
      taken += 1
      return true
    }
    return victims.map(\.place)
  }
}
