import ArgumentParser
import Foundation

/// The data folder of commands that look into one.
package struct FolderOption: ParsableArguments {
    /// The folder's path, as it was given.
    @Option(name: .long, help: "The data folder (default: ALDABA_DATA, else $XDG_STATE_HOME/aldaba).")
    package var data: String?

    /// Made by the parser, which fills it in.
    package init() {}

    /// The folder that was named, by the option or by the environment, or else the standard one.
    package var folder: DataFolder {
        let environment = ProcessInfo.processInfo.environment
        return (data ?? environment[ConfigurationKey.data.environmentName]).map(DataFolder.init)
            ?? .standard(environment: environment)
    }

    /// Whether the folder was named, by the option or by the environment.
    package var isNamed: Bool {
        data != nil || ProcessInfo.processInfo.environment[ConfigurationKey.data.environmentName] != nil
    }

    /// The folder, for a command that adds to it. A named folder must exist, so that a mistyped name makes no new one.
    ///
    /// - Throws: ``CommandError`` with the command that makes one.
    package func begun() throws -> DataFolder {
        let folder = folder
        guard !isNamed || FileManager.default.fileExists(atPath: folder.root) else {
            throw CommandError(
                .invalidInput,
                "there is no folder \(folder.root); `aldaba up` and `aldaba serve` begin one, and so does `mkdir -m 700`"
            )
        }
        return folder
    }

    /// The addresses of the server that runs on the folder.
    ///
    /// - Throws: ``CommandError`` when no server has left any.
    package func addresses() throws -> ServerAddresses {
        guard let addresses = try ServerAddresses.read(folder) else {
            throw CommandError(
                .unreachable,
                "no server has left its addresses in \(folder.root); start `aldaba up` or `aldaba serve` there, or name "
                    + "its folder with --data")
        }
        return addresses
    }

    /// The authority that signed the server's certificate; `nil` for the system's.
    package var authority: String? {
        let path = DevelopmentCertificates.Paths(folder: folder.certificates).authority
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }
}
