import Foundation

/// The folder that holds one manifest per installed app, `ID.json`.
public struct AppFolder: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    /// Every manifest that can be read, by bundle id, and what is wrong with the others, by file name.
    ///
    /// A folder that does not exist has no apps. Files that do not end in `.json` are left alone.
    public func load() -> (apps: [String: AppManifest], faults: [(file: String, fault: String)]) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        var apps: [String: AppManifest] = [:]
        var faults: [(file: String, fault: String)] = []
        for name in names.sorted() where name.hasSuffix(".json") {
            guard let text = FileManager.default.contents(atPath: path + "/" + name) else {
                faults.append((name, "the file cannot be read"))
                continue
            }
            do {
                let manifest = try AppManifest.read(text)
                if apps.updateValue(manifest, forKey: manifest.id) != nil {
                    faults.append((name, "another file has the id \(manifest.id) too; this one is used"))
                }
            } catch {
                faults.append((name, error.description))
            }
        }
        return (apps, faults)
    }

    /// Installs an app, or replaces its manifest; the file is complete or not there.
    ///
    /// - Throws: when the folder or the file cannot be written.
    public func install(_ manifest: AppManifest) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let file = URL(fileURLWithPath: path + "/" + manifest.id + ".json")
        try encoder.encode(manifest).write(to: file, options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
}
