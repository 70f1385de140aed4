// A decoder of one's own, asked before those of the system.

import Foundation
import VitrineImaging

func install(_ decoder: some ImageDecoder) {
  // snippet.show
  DecoderRegistry.standard.add(decoder)
  // snippet.hide
}
