import VitrineCaching
import VitrineRuntime

func key(_ number: Int) -> CacheKey {
  CacheKey { $0.append("https://example.com/\(number).jpg") }
}
