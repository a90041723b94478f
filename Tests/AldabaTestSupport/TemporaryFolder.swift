import Foundation
import Synchronization

/// A folder that goes away with the test; with the process at the latest, where something keeps it for longer.
package final class TemporaryFolder: Sendable {
    /// Where it is.
    package let url: URL

    /// Those that are there.
    private static let present = Mutex<Set<URL>>([])
    private static let removesRest: Void = {
        // What cannot be removed is left to the system's own cleaning of temporary files.
        atexit { for url in TemporaryFolder.present.withLock({ $0 }) { try? FileManager.default.removeItem(at: url) } }
    }()

    package init(under parent: URL = FileManager.default.temporaryDirectory) throws {
        let url = parent.appendingPathComponent("aldaba-test-\(UUID().uuidString)")
        self.url = url
        Self.removesRest
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        _ = Self.present.withLock { $0.insert(url) }
    }

    package func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    deinit {
        try? FileManager.default.removeItem(at: url)
        _ = Self.present.withLock { $0.remove(url) }
    }
}
