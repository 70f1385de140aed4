/// A file that is being written.
public final class CGImageDestination {
  let target: CFMutableData
  let type: String
  let count: Int
  var images: [(image: CGImage, options: [String: Any])] = []

  init(_ target: CFMutableData, _ type: String, _ count: Int) {
    (self.target, self.type, self.count) = (target, type, count)
  }
}

/// Makes a destination; `nil` for a type that cannot be written.
public func CGImageDestinationCreateWithData(
  _ data: CFMutableData,
  _ type: CFString,
  _ count: Int,
  _ options: CFDictionary?,
) -> CGImageDestination? {
  guard count > 0, _ImageIO.codecs?.writable.contains(type as String) == true else { return nil }
  return CGImageDestination(data, type as String, count)
}

/// Adds an image.
public func CGImageDestinationAddImage(
  _ destination: CGImageDestination,
  _ image: CGImage,
  _ properties: CFDictionary?,
) {
  destination.images.append((image, properties.map(_ImageIO.names) ?? [:]))
}

/// Writes the file; returns `false` if it could not, for example because images are missing.
public func CGImageDestinationFinalize(_ destination: CGImageDestination) -> Bool {
  guard destination.images.count == destination.count, let first = destination.images.first,
    let file = _ImageIO.codecs?.encode(
      first.image,
      as: destination.type,
      quality: first.options["kCGImageDestinationLossyCompressionQuality"] as? Double ?? 1,
      isProgressive: first.options["{JFIF}"] != nil,
    )
  else { return false }
  _ImageIO.note(.finalize(destination.type, first.options))
  destination.target.append(file)
  return true
}

/// Returns the types that can be written.
public func CGImageDestinationCopyTypeIdentifiers() -> CFArray { (_ImageIO.codecs?.writable ?? []) as NSArray }
