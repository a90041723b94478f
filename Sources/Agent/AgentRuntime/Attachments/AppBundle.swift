import AgentEngine
import Foundation

/// The files that an app came with: those in the `resources` of its manifest, beside its programs, and in the folders
/// of resources that SwiftPM makes there (`Package_Target.resources`).
package struct AppBundle: Sendable {
    private let resources: String?
    private let programFolders: [String]

    /// Resolves the folders that a manifest names. A script is the first absolute path among the arguments.
    package init(_ manifest: AppManifest) {
        let script = manifest.provesBySecret ? manifest.arguments.first { $0.hasPrefix("/") } : nil
        let programs = [manifest.executable, manifest.serviceExtension?.executable, script].compactMap(\.self)
        resources = manifest.resources.map(Self.resolved)
        programFolders = programs.map { Self.resolved(URL(fileURLWithPath: $0).deletingLastPathComponent().path) }
    }

    /// Whether a path, which is resolved through all links, is that of a file that the app came with.
    func contains(_ path: String) -> Bool {
        if let resources, path.hasPrefix("\(resources)/") { return true }
        return programFolders.contains { folder in
            guard path.hasPrefix("\(folder)/") else { return false }
            let parts = path.dropFirst(folder.count + 1).split(separator: "/")
            return parts.count == 1 || parts[0].hasSuffix(".resources") || parts[0].hasSuffix(".bundle")
        }
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
}
