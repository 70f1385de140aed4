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
