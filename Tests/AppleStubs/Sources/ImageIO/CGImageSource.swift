@_exported import CoreGraphics

// @unchecked: `state` is guarded by `lock`.
/// A file of images.
public final class CGImageSource: @unchecked Sendable {
  private let lock = NSLock()
  private var state: (data: Data, isFinal: Bool)
  private var described: _ImageDescription??
  let isIncremental: Bool

  init(_ data: Data, isFinal: Bool, isIncremental: Bool) {
    (state, self.isIncremental) = ((data, isFinal), isIncremental)
  }

  var contents: (data: Data, isFinal: Bool) {
    get { lock.withLock { state } }
    set { lock.withLock { (state, described) = (newValue, nil) } }
  }

  var description: _ImageDescription? {
    if let known = lock.withLock({ described }) { return known }
    let (data, isFinal) = contents
    let found = _ImageIO.codecs?.describe(data, isFinal: isFinal)
    lock.withLock { described = .some(found) }
    return found
  }
}

/// Makes a source of a whole file.
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? {
  let bytes = Data(bytes: data.bytes, count: data.length)
  _ImageIO.note(.create(bytes, options.map(_ImageIO.names) ?? [:]))
  return CGImageSource(bytes, isFinal: true, isIncremental: false)
}

/// Makes a source of a file that arrives in pieces.
public func CGImageSourceCreateIncremental(_ options: CFDictionary?) -> CGImageSource {
  CGImageSource(Data(), isFinal: false, isIncremental: true)
}

/// Replaces what has arrived, which is all of it so far.
public func CGImageSourceUpdateData(_ source: CGImageSource, _ data: CFData, _ final: Bool) {
  precondition(source.isIncremental, "only an incremental source is updated")
  let bytes = Data(bytes: data.bytes, count: data.length)
  _ImageIO.note(.update(bytes, isFinal: final))
  source.contents = (bytes, final)
}

/// Returns the number of images.
public func CGImageSourceGetCount(_ source: CGImageSource) -> Int { source.description?.properties.count ?? 0 }

/// Returns the index of the main image.
public func CGImageSourceGetPrimaryImageIndex(_ source: CGImageSource) -> Int { source.description?.primary ?? 0 }

/// Returns the properties of the file.
public func CGImageSourceCopyProperties(_ source: CGImageSource, _ options: CFDictionary?) -> CFDictionary? {
  source.description?.container as NSDictionary?
}

/// Returns the properties of an image.
public func CGImageSourceCopyPropertiesAtIndex(
  _ source: CGImageSource,
  _ index: Int,
  _ options: CFDictionary?,
) -> CFDictionary? {
  guard let all = source.description?.properties, all.indices.contains(index) else { return nil }
  return all[index] as NSDictionary
}

/// Returns an image in its stored orientation; `nil` if it cannot be decoded.
public func CGImageSourceCreateImageAtIndex(
  _ source: CGImageSource,
  _ index: Int,
  _ options: CFDictionary?,
) -> CGImage? {
  let names = options.map(_ImageIO.names) ?? [:]
  _ImageIO.note(.image(index, names))
  let (data, isFinal) = source.contents
  let factor = names["kCGImageSourceSubsampleFactor"] as? Int ?? 1
  return _ImageIO.codecs?.decode(
    data,
    _DecodeRequest(index: index, longestSide: nil, subsampling: factor, isUpright: false, isFinal: isFinal),
  )
}

/// Returns an image no larger than asked for.
///
/// Without "always" or "if absent" only a thumbnail within the file is returned, which the stub does not read.
public func CGImageSourceCreateThumbnailAtIndex(
  _ source: CGImageSource,
  _ index: Int,
  _ options: CFDictionary?,
) -> CGImage? {
  let names = options.map(_ImageIO.names) ?? [:]
  _ImageIO.note(.thumbnail(index, names))
  let isMade =
    names["kCGImageSourceCreateThumbnailFromImageAlways"] as? Bool == true
    || names["kCGImageSourceCreateThumbnailFromImageIfAbsent"] as? Bool == true
  guard isMade else { return nil }
  let (data, isFinal) = source.contents
  return _ImageIO.codecs?.decode(
    data,
    _DecodeRequest(
      index: index,
      longestSide: names["kCGImageSourceThumbnailMaxPixelSize"] as? Int,
      subsampling: 1,
      isUpright: names["kCGImageSourceCreateThumbnailWithTransform"] as? Bool == true,
      isFinal: isFinal,
      isHighRange: names["kCGImageSourceDecodeRequest"] as? String == "kCGImageSourceDecodeToHDR",
    ),
  )
}

/// Returns the types that can be read.
public func CGImageSourceCopyTypeIdentifiers() -> CFArray { (_ImageIO.codecs?.readable ?? []) as NSArray }

/// A tree of metadata.
public final class CGImageMetadata {
  let xmp: Data

  init(_ xmp: Data) { self.xmp = xmp }
}

/// Returns the metadata of an image.
public func CGImageSourceCopyMetadataAtIndex(
  _ source: CGImageSource,
  _ index: Int,
  _ options: CFDictionary?,
) -> CGImageMetadata? {
  source.description?.xmp.map { CGImageMetadata($0) }
}

/// Returns metadata as a packet of XMP.
public func CGImageMetadataCreateXMPData(_ metadata: CGImageMetadata, _ options: CFDictionary?) -> CFData? {
  metadata.xmp as NSData
}
