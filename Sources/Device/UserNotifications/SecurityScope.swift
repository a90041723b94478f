import Foundation

// Code that reads an attachment asks for the leave that iOS wants; on Linux files have owners and modes instead.
// Should Foundation offer these one day, its own are taken.
extension URL {
    /// True for every file's URL: no leave is needed. Whether the file can be read is for the reading to say.
    @_disfavoredOverload
    public func startAccessingSecurityScopedResource() -> Bool { isFileURL }

    /// Does nothing.
    @_disfavoredOverload
    public func stopAccessingSecurityScopedResource() {}
}
