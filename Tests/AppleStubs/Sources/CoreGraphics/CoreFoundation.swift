// Core Foundation's types, which Apple's compilers bridge to Foundation's.
@_exported import Foundation

/// A reference to any Core Foundation object.
public typealias CFTypeRef = AnyObject
/// A string.
public typealias CFString = NSString
/// Bytes.
public typealias CFData = NSData
/// Bytes that can grow.
public typealias CFMutableData = NSMutableData
/// A dictionary.
public typealias CFDictionary = NSDictionary
/// An array.
public typealias CFArray = NSArray
/// A set.
public typealias CFSet = NSSet
/// A string with attributes.
public typealias CFAttributedString = NSAttributedString
/// A number of elements, or the place of one.
public typealias CFIndex = Int

/// A range of places.
public struct CFRange: Sendable {
  /// The first place.
  public var location: CFIndex
  /// The number of places.
  public var length: CFIndex

  /// Makes a range.
  public init(location: CFIndex, length: CFIndex) { (self.location, self.length) = (location, length) }
}
