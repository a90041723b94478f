import AgentEngine
import AgentProtocol
import Foundation
import Logging
import PushCore

extension AppStrings {
    /// Reads the tables of these languages, then `Base` and `en`. Unreadable tables, and those over 4 MiB, are ignored, with a
    /// line in the log.
    ///
    /// - Parameters:
    ///   - folder: The app's resources folder.
    ///   - languages: The person's languages, the best first, such as `de_DE` or `de`.
    package init(folder: String, languages: [String], logger: Logger) {
        let names = languages.flatMap { language -> [String] in
            let full = language.split(separator: ".").first.map(String.init) ?? language
            let parts = full.split(whereSeparator: { $0 == "_" || $0 == "-" }).map(String.init)
            return [full, parts.joined(separator: "-"), parts.joined(separator: "_"), parts.first ?? full]
        }
        var seen: Set<String> = []
        self.init(
            tables: (names + ["Base", "en"]).filter { seen.insert($0).inserted }.compactMap { name in
                Self.table(at: "\(folder)/\(name).lproj/Localizable.strings", logger)
            })
    }

    /// The largest string table that is read, in bytes.
    private static let tableLimit = 4 << 20

    /// Reads a table; `nil` for one that does not exist, is too large or is none.
    private static func table(at path: String, _ logger: Logger) -> [String: String]? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
            guard let size, size.intValue <= tableLimit else { throw CocoaError(.fileReadTooLarge) }
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            guard
                let table = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: String]
            else { throw CocoaError(.propertyListReadCorrupt) }
            return table
        } catch {
            logger.warning(
                "a string table cannot be read: texts of its language are shown as their keys",
                metadata: [LogKey.path: "\(path)", LogKey.error: "\(error.localizedDescription)"])
            return nil
        }
    }

    /// Reads the tables of an app in the languages of this process's environment; `nil` where the app has no resources.
    package static func read(_ manifest: AppManifest, logger: Logger) -> AppStrings? {
        manifest.resources.map {
            AppStrings(folder: $0, languages: languages(ProcessInfo.processInfo.environment), logger: logger)
        }
    }
}
