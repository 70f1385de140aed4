/// The version of Vitrine, which its programs print; CHANGELOG.md has what it brings.
package let vitrineVersion = "0.2.0"
