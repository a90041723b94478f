import Foundation

/// The files of this repository that tests read.
package enum Repository {
    /// The folder that holds `Package.swift`.
    package static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The address of a file in `Tests/Fixtures`.
    package static func fixture(_ path: String) -> URL { root.appendingPathComponent("Tests/Fixtures/\(path)") }

    /// The text of a file, by its path from the root.
    package static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}
