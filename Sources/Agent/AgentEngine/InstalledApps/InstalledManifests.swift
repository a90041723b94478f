import AgentProtocol

/// The manifests of the installed apps, as their folder had them at one moment.
package struct InstalledManifests: Sendable {
    /// The manifests by bundle id.
    package var apps: [BundleID: AppManifest] = [:]
    /// The faults of manifests that are not used, and of those that another one replaces.
    package var faults: [(file: String, fault: String)] = []
    /// The file of each app's manifest.
    package var files: [BundleID: String] = [:]
    /// Whether the next check may find a difference although nothing is written meanwhile.
    package var mayChangeUnseen = false
    /// Whether the folder could be read.
    package var isReadable: Bool

    /// A folder without manifests.
    package init(isReadable: Bool) { self.isReadable = isReadable }

    /// Whether the folder has an app, or may have it in a file that cannot be used.
    ///
    /// - Parameter file: The app's manifest file when it was last read; `nil` when that is not known.
    package func mayHave(_ app: BundleID, in file: String?) -> Bool {
        if apps[app] != nil { return true }
        return faults.contains { fault in file.map { $0 == fault.file } ?? true }
    }
}
