import ArgumentParser
import CommandCore
import Foundation
import Logging
import Machine
import PushModel

/// The data folder of commands that look into one.
struct FolderOption: ParsableArguments {
    @Option(name: .long, help: "The data folder (default: ALDABA_DATA, else $XDG_STATE_HOME/aldaba).")
    var data: String?

    var folder: DataFolder {
        let environment = ProcessInfo.processInfo.environment
        return (data ?? environment[ConfigurationKey.data.environmentName]).map(DataFolder.init)
            ?? .standard(environment: environment)
    }

    /// The addresses of the server that runs on the folder.
    func addresses() throws -> ServerAddresses {
        guard let addresses = try ServerAddresses.read(folder) else {
            throw CommandFailure(
                .unreachable,
                "no server has left its addresses in \(folder.root); start `aldaba up` or `aldaba serve` there, or name "
                    + "its folder with --data")
        }
        return addresses
    }

    /// The authority that signed the server's certificate; `nil` for the system's.
    var authority: String? {
        let path = DevelopmentCertificates.Paths(folder: folder.certificates).authority
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }
}

/// The present, as stores and tokens take it.
func presentTime() -> Timestamp { Timestamp(rawValue: MachineClock.wall) }

extension ConfigurationValues {
    /// The configured log level.
    var logLevel: Logger.Level { text(.logLevel).flatMap(Logger.Level.init(rawValue:)) ?? .info }

    /// Logs what is allowed and unwise.
    func warn(_ logger: Logger) { for warning in warnings { logger.warning("\(warning)") } }
}
