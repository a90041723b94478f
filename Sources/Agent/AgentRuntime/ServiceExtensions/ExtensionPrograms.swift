import AgentEngine
import Foundation
import Platform

/// Starts service extensions as processes, each with a temporary folder of its own; output goes to the log folder.
///
/// Guarantees: a process gains no rights from its program. It inherits none of the agent's own settings (`ALDABA_…`)
/// and no descriptor, and leads a process group of its own.
package struct ExtensionPrograms: ExtensionLauncher {
    /// Bytes of its own memory that a process may have, with what it started: as on Apple's devices.
    package static let memoryLimit: Int64 = 24 << 20

    /// Bytes that its control group may have, where there is one: files among them, such as its libraries.
    package static let groupMemoryLimit: Int64 = 96 << 20

    private let folder: String
    private let logFolder: String
    private let environment: [String: String]

    /// Makes nothing yet.
    ///
    /// - Parameters:
    ///   - folder: Holds the temporary folders, and nothing else: the folder's content is deleted.
    ///   - logFolder: Where the output goes, one file for each extension.
    ///   - environment: The agent's own variables.
    package init(
        folder: String, logFolder: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.folder = folder
        self.logFolder = logFolder
        self.environment = environment.filter { !$0.key.hasPrefix("ALDABA_") }
    }

    /// Starts the program with the manifest's variables above the agent's own, `variables` above both, and a folder for
    /// `TMPDIR`.
    package func start(
        of app: AppManifest, variables: [String: String], events: @escaping @Sendable (WatchedProgram.Event) -> Void
    ) throws(MachineError) -> any RunningExtension {
        guard let manifest = app.serviceExtension else {
            throw MachineError(what: app.id.rawValue, reason: "its manifest names no service extension")
        }
        let own = "\(folder)/\(UUID().uuidString.lowercased())"
        try PrivateFolder.prepare(folder, shut: true)
        try PrivateFolder.prepare(own, shut: true)
        do {
            let log = try ProgramLog.open(folder: logFolder, name: manifest.id)
            defer { close(log) }
            let program = ChildProgram(
                path: manifest.executable, arguments: manifest.arguments,
                environment: allVariables(for: manifest, of: app, folder: own, variables))
            let group = ControlGroup.delegated().flatMap {
                ControlGroup.make(in: $0, memoryLimit: Self.groupMemoryLimit)
            }
            let running = try WatchedProgram.start(
                program, name: "aldaba-extension", output: log, memoryLimit: Self.memoryLimit, group: group,
                events: events)
            return Running(program: running, folder: own)
        } catch {
            try? FileManager.default.removeItem(atPath: own)
            throw error
        }
    }

    private func allVariables(
        for manifest: ServiceExtensionManifest, of app: AppManifest, folder: String, _ variables: [String: String]
    ) -> [String: String] {
        var all = environment
        all.merge(manifest.environment) { $1 }
        all.merge(variables) { $1 }
        all["TMPDIR"] = folder
        all["ALDABA_ROLE"] = "serviceExtension"
        all["ALDABA_APP_ID"] = app.id.rawValue
        all["ALDABA_APP_RESOURCES"] = app.resources
        all["ALDABA_APP_GROUPS"] = app.applicationGroups.joined(separator: ":")
        all["ALDABA_PRINCIPAL_CLASS"] = manifest.principalClass
        return all
    }

    /// Deletes the temporary folders.
    package func clear() { try? FileManager.default.removeItem(atPath: folder) }

    private struct Running: RunningExtension {
        let program: WatchedProgram
        let folder: String

        var process: Int32 { program.process }
        func kill() { program.kill() }
        func clear() { try? FileManager.default.removeItem(atPath: folder) }
    }
}
