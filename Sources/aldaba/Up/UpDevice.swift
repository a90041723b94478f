import AldabaConfiguration
import Foundation
import RelayAgent

/// A device that `up` runs: an agent with a data folder and a socket of its own. All devices belong to one user.
struct UpDevice: Sendable {
    let name: String
    let folder: DataFolder
    let socket: String

    /// Makes the devices' folders, and has them share an account.
    static func prepare(
        _ count: Int, _ folder: DataFolder, socket: String, environment: [String: String]
    ) throws -> [UpDevice] {
        let own = RelaySettingsFile(dataFolder: folder.root)
        var settings = try own.read()
        if settings.account == nil {
            settings.account = AccountKey()
            try own.write(settings)
        }
        var devices = [UpDevice(name: settings.name, folder: folder, socket: socket)]
        for number in 2..<max(2, count + 1) {
            let other = DataFolder(root: folder.root + "/devices/\(number)")
            do {
                try PrivateFile.makeFolder(folder.root + "/devices", marks: ["."])
                try other.make()
            } catch { throw CommandError(.failed, "\(error)") }
            let file = RelaySettingsFile(dataFolder: other.root)
            var others = try file.read()
            if others.account != settings.account {
                others.account = settings.account
                others.name = "\(settings.name)-\(number)"
                try file.write(others)
            }
            let socket = other.agentSocket(environment: environment)
            try PrivateFile.makeFolder(URL(fileURLWithPath: socket).deletingLastPathComponent().path)
            devices.append(UpDevice(name: others.name, folder: other, socket: socket))
        }
        return devices
    }
}
