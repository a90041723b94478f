import AldabaConfiguration
import Foundation
import Glibc
import Platform

/// A program of another's that `up` runs beside its servers. It gets a signal when this process dies.
final class LocalProgram: Sendable {
    private let process: Process

    private init(_ process: Process) { self.process = process }

    /// The number of the process.
    var processID: Int32 { process.processIdentifier }

    /// Starts a program, on a thread of its own: the system sends the signal when the thread ends that started it.
    ///
    /// - Parameters:
    ///   - user: The user that it runs as; `nil` for this process's.
    ///   - signal: The name of the signal that ends it, without `SIG`.
    /// - Throws: ``CommandError`` where it cannot be started.
    static func start(
        _ program: String, _ arguments: [String], as user: String? = nil, signal: String, folder: String, log: String
    ) async throws -> LocalProgram {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        let other = user.map { ["--reuid=\($0)", "--regid=\(group(of: $0))", "--clear-groups"] } ?? []
        process.arguments = other + ["--pdeathsig=\(signal)", "--", program] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardInput = FileHandle.nullDevice
        try PrivateFile.write([], to: log)
        guard let output = FileHandle(forWritingAtPath: log) else {
            throw CommandError(.failed, "\(log) cannot be written")
        }
        (process.standardOutput, process.standardError) = (output, output)
        let started = Readiness<Void>()
        NamedThread.begin("program") {
            do {
                try process.run()
                started.settle(.success(()))
                process.waitUntilExit()
            } catch { started.settle(.failure(error)) }
        }
        do { try await started.value() } catch {
            throw CommandError(.failed, "\(program) cannot be started: \(error)")
        }
        return LocalProgram(process)
    }

    /// Runs a program to its end.
    ///
    /// - Throws: ``CommandError`` with what it printed, where it fails.
    static func run(_ program: String, _ arguments: [String], as user: String? = nil, folder: String) throws {
        let process = Process()
        let output = Pipe()
        let other = user.map { ["--reuid=\($0)", "--regid=\(group(of: $0))", "--clear-groups", program] }
        process.executableURL = URL(fileURLWithPath: other == nil ? program : "/usr/bin/setpriv")
        process.arguments = (other ?? []) + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, output, output)
        do { try process.run() } catch { throw CommandError(.failed, "\(program) cannot be started: \(error)") }
        let told = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CommandError(.failed, "\(program) failed: \(told.split(separator: "\n").last ?? "")")
        }
    }

    private static func group(of user: String) -> String {
        guard let entry = getpwnam(user) else { return user }
        return "\(entry.pointee.pw_gid)"
    }

    /// Whether it runs.
    var isRunning: Bool { process.isRunning }

    /// Sends a signal.
    func send(_ signal: Int32) { if isRunning { _ = kill(processID, signal) } }
}
