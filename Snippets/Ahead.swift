// Loads images before they are needed, and groups the loads of a screen.

import Foundation
import Vitrine

func ahead(of requests: [ImageRequest], leaving others: [ImageRequest]) async {
  // snippet.show
  // The next rows of a list, at low priority. A view that needs one of them shares its load.
  let prefetcher = ImagePrefetcher(.shared)
  prefetcher.start(requests)
  prefetcher.stop(others)  // the list scrolled the other way
  // snippet.hide

  // snippet.show
  // Before going offline: bytes to disk, nothing decoded.
  let results = await ImagePrefetcher(.shared, destination: .disk, maxConcurrentLoads: 4).load(requests)
  // snippet.hide
  print(results.count)

  // snippet.show
  let scope = LoadScope(.shared)
  let task = scope.imageTask(for: requests[0])
  scope.pause()  // the list is flung: nothing begins
  scope.resume()  // it rests
  scope.cancelAll()  // the screen is closed
  // snippet.hide
  _ = task
}
