// Images before anyone asks for them, and loads that stay together.

import Foundation
import Vitrine

func ahead(of requests: [ImageRequest], leaving others: [ImageRequest]) async {
  // snippet.show
  // What comes next in a list, behind everything that is waited for; whoever then asks shares the load.
  let prefetcher = ImagePrefetcher(.shared)
  prefetcher.start(requests)
  prefetcher.stop(others)  // it scrolled the other way

  // The loads of a screen: they pause while it is flung, and end with it.
  let scope = LoadScope(.shared)
  let task = scope.imageTask(for: requests[0])
  scope.pause()
  scope.resume()
  scope.cancelAll()
  // snippet.hide
  _ = task
}
