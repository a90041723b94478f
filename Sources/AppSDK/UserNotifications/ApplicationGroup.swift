import AppHost
import Foundation

// An app and its service extension share a folder by the name of a group. If Foundation ever offers this method, its
// own is taken.
extension FileManager {
    /// The folder that the apps and extensions of a group share, such as `group.com.example.todo`; made where it is
    /// missing.
    ///
    /// `nil` for a group that the app's manifest does not name as `applicationGroups`.
    @_disfavoredOverload
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        GroupFolder.path(of: groupIdentifier, environment: ProcessInfo.processInfo.environment).map {
            URL(fileURLWithPath: $0, isDirectory: true)
        }
    }
}
