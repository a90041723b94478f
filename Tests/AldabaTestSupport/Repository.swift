import Foundation

/// The files of this repository that tests read.
public enum Repository {
    /// The folder that holds `Package.swift`.
    public static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The address of a file in `Tests/Fixtures`.
    public static func fixture(_ path: String) -> URL { root.appendingPathComponent("Tests/Fixtures/\(path)") }

    /// The text of a file, by its path from the root.
    public static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}
