import Foundation

// Code for iOS asks for access before it reads an attachment. On Linux files have owners and modes instead. If
// Foundation ever offers these methods, its own are taken.
extension URL {
    /// True for every file's URL: no permission is needed. Reading shows whether the file can be read.
    @_disfavoredOverload
    public func startAccessingSecurityScopedResource() -> Bool { isFileURL }

    /// Does nothing.
    @_disfavoredOverload
    public func stopAccessingSecurityScopedResource() {}
}
