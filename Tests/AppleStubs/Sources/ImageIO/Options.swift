// The keys of options and properties. A key is a constant; NSString is immutable.

private func key(_ name: String) -> CFString { name as NSString }

/// Whether decoded pixels are cached by the source.
public var kCGImageSourceShouldCache: CFString { key("kCGImageSourceShouldCache") }
/// Whether an image is decoded when it is made, not when it is drawn.
public var kCGImageSourceShouldCacheImmediately: CFString { key("kCGImageSourceShouldCacheImmediately") }
/// Whether a thumbnail is made of the image even if the file has one.
public var kCGImageSourceCreateThumbnailFromImageAlways: CFString {
  key("kCGImageSourceCreateThumbnailFromImageAlways")
}
/// Whether a thumbnail is turned upright.
public var kCGImageSourceCreateThumbnailWithTransform: CFString { key("kCGImageSourceCreateThumbnailWithTransform") }
/// The most pixels that the longer side of a thumbnail may have.
public var kCGImageSourceThumbnailMaxPixelSize: CFString { key("kCGImageSourceThumbnailMaxPixelSize") }
/// By how much the decoder reduces the size: 2, 4 or 8.
public var kCGImageSourceSubsampleFactor: CFString { key("kCGImageSourceSubsampleFactor") }
/// The dynamic range of the decoded image.
public var kCGImageSourceDecodeRequest: CFString { key("kCGImageSourceDecodeRequest") }
/// A request for high dynamic range.
public var kCGImageSourceDecodeToHDR: CFString { key("kCGImageSourceDecodeToHDR") }
/// A request for standard dynamic range.
public var kCGImageSourceDecodeToSDR: CFString { key("kCGImageSourceDecodeToSDR") }

/// The width in stored pixels.
public var kCGImagePropertyPixelWidth: CFString { key("PixelWidth") }
/// The height in stored pixels.
public var kCGImagePropertyPixelHeight: CFString { key("PixelHeight") }
/// The orientation, 1 to 8.
public var kCGImagePropertyOrientation: CFString { key("Orientation") }
/// Whether there is an alpha channel.
public var kCGImagePropertyHasAlpha: CFString { key("HasAlpha") }
/// The bits of a component.
public var kCGImagePropertyDepth: CFString { key("Depth") }
/// The kind of the components.
public var kCGImagePropertyColorModel: CFString { key("ColorModel") }
/// The value of the colour model for gray.
public var kCGImagePropertyColorModelGray: CFString { key("Gray") }
/// The value of the colour model for inks.
public var kCGImagePropertyColorModelCMYK: CFString { key("CMYK") }
/// The dictionary of EXIF.
public var kCGImagePropertyExifDictionary: CFString { key("{Exif}") }
/// The dictionary of TIFF.
public var kCGImagePropertyTIFFDictionary: CFString { key("{TIFF}") }
/// The dictionary of positions.
public var kCGImagePropertyGPSDictionary: CFString { key("{GPS}") }
/// The dictionary of HEIF sequences.
public var kCGImagePropertyHEICSDictionary: CFString { key("{HEICS}") }
/// The dictionary of AVIF sequences.
public var kCGImagePropertyAVISDictionary: CFString { key("{AVIS}") }
/// The duration of a frame of a HEIF sequence, in seconds.
public var kCGImagePropertyHEICSUnclampedDelayTime: CFString { key("UnclampedDelayTime") }
/// The number of times that a HEIF sequence plays; 0 for endless.
public var kCGImagePropertyHEICSLoopCount: CFString { key("LoopCount") }

/// The maker of the camera.
public var kCGImagePropertyTIFFMake: CFString { key("Make") }
/// The model of the camera.
public var kCGImagePropertyTIFFModel: CFString { key("Model") }
/// The program.
public var kCGImagePropertyTIFFSoftware: CFString { key("Software") }
/// The author.
public var kCGImagePropertyTIFFArtist: CFString { key("Artist") }
/// The copyright notice.
public var kCGImagePropertyTIFFCopyright: CFString { key("Copyright") }
/// The time of the last change.
public var kCGImagePropertyTIFFDateTime: CFString { key("DateTime") }
/// The model of the lens.
public var kCGImagePropertyExifLensModel: CFString { key("LensModel") }
/// The exposure time, in seconds.
public var kCGImagePropertyExifExposureTime: CFString { key("ExposureTime") }
/// The f-number.
public var kCGImagePropertyExifFNumber: CFString { key("FNumber") }
/// The sensitivities.
public var kCGImagePropertyExifISOSpeedRatings: CFString { key("ISOSpeedRatings") }
/// The focal length, in millimetres.
public var kCGImagePropertyExifFocalLength: CFString { key("FocalLength") }
/// The flash.
public var kCGImagePropertyExifFlash: CFString { key("Flash") }
/// The time at which the picture was taken.
public var kCGImagePropertyExifDateTimeOriginal: CFString { key("DateTimeOriginal") }
/// Its time zone.
public var kCGImagePropertyExifOffsetTimeOriginal: CFString { key("OffsetTimeOriginal") }
/// Its fraction of a second.
public var kCGImagePropertyExifSubsecTimeOriginal: CFString { key("SubsecTimeOriginal") }
/// The latitude, without its sign.
public var kCGImagePropertyGPSLatitude: CFString { key("Latitude") }
/// North or south.
public var kCGImagePropertyGPSLatitudeRef: CFString { key("LatitudeRef") }
/// The longitude, without its sign.
public var kCGImagePropertyGPSLongitude: CFString { key("Longitude") }
/// East or west.
public var kCGImagePropertyGPSLongitudeRef: CFString { key("LongitudeRef") }
/// The altitude, without its sign.
public var kCGImagePropertyGPSAltitude: CFString { key("Altitude") }
/// Above or below the sea.
public var kCGImagePropertyGPSAltitudeRef: CFString { key("AltitudeRef") }

/// The properties of JFIF.
public var kCGImagePropertyJFIFDictionary: CFString { key("{JFIF}") }
/// Whether a JPEG comes in scans of growing detail.
public var kCGImagePropertyJFIFIsProgressive: CFString { key("IsProgressive") }

/// The quality of a lossy encoder, 0 to 1.
public var kCGImageDestinationLossyCompressionQuality: CFString { key("kCGImageDestinationLossyCompressionQuality") }
