import Foundation

/// A folder that goes away with the test.
public final class TemporaryFolder: Sendable {
    public let url: URL

    public init(under parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appendingPathComponent("aldaba-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    public func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    deinit {
        // What cannot be removed is left to the system's own cleaning of temporary files.
        try? FileManager.default.removeItem(at: url)
    }
}
