import Foundation
import Platform

/// The folders that apps of one maker share with each other and with their extensions.
package enum GroupFolder {
    /// The folder of a group, `aldaba/groups/GROUP` in the user's data folder (XDG Base Directory Specification); made
    /// with mode 0700 where it is missing.
    ///
    /// - Parameter environment: Of this process. Where the agent started it, `ALDABA_APP_GROUPS` has the groups of the
    ///   app's manifest, and there are no others; where a person did, any group is one.
    /// - Returns: `nil` for a name that is no group's, for a group that the manifest does not name, and where the
    ///   folder cannot be used.
    package static func path(of group: String, environment: [String: String]) -> String? {
        guard hasShape(group) else { return nil }
        if let named = environment["ALDABA_APP_GROUPS"], !named.split(separator: ":").contains(group[...]) {
            return nil
        }
        func value(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let data = value("XDG_DATA_HOME") ?? (value("HOME") ?? NSHomeDirectory()) + "/.local/share"
        let path = "\(data)/aldaba/groups/\(group)"
        do {
            try PrivateFolder.prepare(path, shut: true)
            return path
        } catch {
            return nil
        }
    }

    /// `group.` and a bundle id; no such name leads out of the folder.
    private static func hasShape(_ name: String) -> Bool {
        name.hasPrefix("group.") && name.utf8.count > 6 && name.utf8.count <= 255
            && name.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || $0.properties.numericType != nil
                        || ".-_".unicodeScalars.contains($0))
            }
    }
}
