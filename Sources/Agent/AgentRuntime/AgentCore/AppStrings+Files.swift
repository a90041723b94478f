import AgentEngine
import Foundation

extension AppStrings {
    /// Reads the tables of these languages, then `Base` and `en`; unreadable tables, and those over 4 MiB, are ignored.
    ///
    /// - Parameters:
    ///   - folder: The app's resources folder.
    ///   - languages: The person's languages, the best first, such as `de_DE` or `de`.
    package init(folder: String, languages: [String]) {
        let names = languages.flatMap { language -> [String] in
            let full = language.split(separator: ".").first.map(String.init) ?? language
            let parts = full.split(whereSeparator: { $0 == "_" || $0 == "-" }).map(String.init)
            return [full, parts.joined(separator: "-"), parts.joined(separator: "_"), parts.first ?? full]
        }
        var seen: Set<String> = []
        self.init(
            tables: (names + ["Base", "en"]).filter { seen.insert($0).inserted }.compactMap { name in
                Self.table(at: "\(folder)/\(name).lproj/Localizable.strings")
            })
    }

    /// The largest string table that is read, in bytes.
    private static let tableLimit = 4 << 20

    private static func table(at path: String) -> [String: String]? {
        guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber,
            size.intValue <= tableLimit, let data = FileManager.default.contents(atPath: path)
        else { return nil }
        return try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: String]
    }

    /// Reads the tables of an app in the languages of this process's environment; `nil` where the app has no resources.
    package static func read(_ manifest: AppManifest) -> AppStrings? {
        manifest.resources.map {
            AppStrings(folder: $0, languages: languages(ProcessInfo.processInfo.environment))
        }
    }
}
