import Foundation

/// The settings of relaying on the disk: a file of JSON that only its owner may read.
package struct RelaySettingsFile: Sendable {
    /// The path of the file.
    package let path: String

    /// Why the file cannot be used, and what can be done.
    package struct Unusable: Error, CustomStringConvertible {
        /// The path and the reason.
        package let description: String
    }

    /// The file of an agent's data folder.
    package init(dataFolder: String) { path = dataFolder + "/relay.json" }

    /// Reads the settings; those of a new device where there is no file.
    ///
    /// - Throws: ``Unusable``.
    package func read() throws(Unusable) -> RelaySettings {
        guard FileManager.default.fileExists(atPath: path) else { return RelaySettings(name: Self.hostName) }
        guard let text = FileManager.default.contents(atPath: path) else {
            throw Unusable(description: "\(path) cannot be read")
        }
        do { return try JSONDecoder().decode(RelaySettings.self, from: text) } catch {
            throw Unusable(
                description: "\(path) is not what an agent writes; move it away, and join the account again")
        }
    }

    /// Reads the settings, with the device's own key, which is drawn and written with the first run.
    ///
    /// - Throws: ``Unusable``.
    package func loadOrCreate() throws(Unusable) -> RelaySettings {
        var settings = try read()
        if settings.deviceKey == nil {
            settings.deviceKey = RelaySeals.newKey()
            try write(settings)
        }
        return settings
    }

    /// Writes the settings whole or not at all.
    ///
    /// - Throws: ``Unusable``; the old file is as it was.
    package func write(_ settings: RelaySettings) throws(Unusable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(settings) else { throw Unusable(description: "\(path): no JSON") }
        let new = path + ".new"
        unlink(new)
        let descriptor = Glibc.open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure() }
        let written = text.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        let isSynced = fsync(descriptor) == 0
        close(descriptor)
        guard written == text.count, isSynced, rename(new, path) == 0 else {
            unlink(new)
            throw failure()
        }
    }

    private func failure() -> Unusable {
        Unusable(description: "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }

    /// The machine's name, without asking any network for it.
    package static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "Linux" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
