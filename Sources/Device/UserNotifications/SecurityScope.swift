import Foundation

// Code for iOS asks for access before it reads an attachment. On Linux files have owners and modes instead. If
// Foundation ever offers these methods, its own are taken.
extension URL {
    /// True for every file's URL: no leave is needed. Whether the file can be read is for the reading to say.
    @_disfavoredOverload
    public func startAccessingSecurityScopedResource() -> Bool { isFileURL }

    /// Does nothing.
    @_disfavoredOverload
    public func stopAccessingSecurityScopedResource() {}
}
