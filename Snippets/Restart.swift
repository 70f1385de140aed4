// Ends one user of a disk cache, so that another can begin.

import Foundation
import Vitrine

func end(_ pipeline: ImagePipeline, with disk: DiskCache) async {
  // snippet.show
  await pipeline.cache.flush()  // everything loaded so far is on disk
  await disk.close()  // another cache may write to the folder
  // snippet.hide
}
