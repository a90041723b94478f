import AldabaConfiguration
import Foundation
import Logging
import Platform
import Synchronization

/// Keeps children running: a child that ends is started again at once, until it has ended too often.
///
/// `pids.json` has the process id of each child at every moment; `null` while it has none.
package actor Supervisor {
    /// A child by its name, and how to start it anew each time.
    package struct Child: Sendable {
        /// The child's name in `pids.json` and messages.
        package var name: String
        /// Returns how to start it; called before every start.
        package var plan: @Sendable () throws -> ChildProcess.Plan
        /// Called after every start with the process id.
        package var started: @Sendable (Int32) -> Void

        /// Names a child; `plan` is asked before every start.
        package init(
            name: String, plan: @escaping @Sendable () throws -> ChildProcess.Plan,
            started: @escaping @Sendable (Int32) -> Void = { _ in }
        ) {
            self.name = name
            self.plan = plan
            self.started = started
        }
    }

    /// Why a child is no longer started.
    package struct GivenUp: Error, CustomStringConvertible {
        /// The child's name.
        package var name: String
        /// How it ended the last time.
        package var end: ProgramEnd
        /// The path of its log.
        package var log: String
        /// The last lines of its log, ten at most.
        package var lastLines: [String]

        /// The event, the path of the log, and the log's last lines.
        package var description: String {
            let lines = lastLines.map { "\n  | \($0)" }.joined()
            return "\(name) died five times within ten seconds, the last time with \(end); its log is \(log)\(lines)"
        }
    }

    private let processFile: String
    private let logger: Logger
    private let grace: Duration
    private var processes: [String: Int32?]

    /// Begins without a running child, and writes `pids.json`.
    ///
    /// - Parameters:
    ///   - names: The children that `pids.json` lists from the start.
    ///   - processFile: The path of `pids.json`.
    ///   - grace: How long a child may take to end when it is asked to.
    package init(names: [String], processFile: String, logger: Logger, grace: Duration = .seconds(5)) throws {
        self.processFile = processFile
        self.logger = logger
        self.grace = grace
        processes = Dictionary(uniqueKeysWithValues: names.map { ($0, nil) })
        try PrivateFile.write(Self.json(processes), to: processFile)
    }

    /// The processes that run now, by name.
    package var running: [String: Int32] { processes.compactMapValues { $0 } }

    /// Runs a child until this task is cancelled; then the child is ended first.
    ///
    /// - Throws: ``GivenUp`` when it died too often, or what kept it from being started.
    package func keep(_ child: Child, policy: RestartPolicy = RestartPolicy()) async throws {
        var policy = policy
        while !Task.isCancelled {
            let plan = try child.plan()
            let process = try ChildProcess(plan)
            recordProcess(child.name, process.identifier)
            child.started(process.identifier)
            let end = await withTaskCancellationHandler {
                await process.end()
            } onCancel: { [grace] in
                Task { await process.stop(grace: grace) }
            }
            recordProcess(child.name, nil)
            if Task.isCancelled { return }
            logger.warning("\(child.name) ended with \(end) and is started again")
            guard policy.recordExit(at: .now) else {
                throw GivenUp(name: child.name, end: end, log: plan.log.path, lastLines: plan.log.lastLines(10))
            }
        }
    }

    private func recordProcess(_ name: String, _ process: Int32?) {
        processes[name] = .some(process)
        do { try PrivateFile.write(Self.json(processes), to: processFile) } catch {
            logger.error("the process ids could not be written: \(error)")
        }
    }

    private static func json(_ processes: [String: Int32?]) -> [UInt8] {
        let members = processes.sorted { $0.key < $1.key }.map {
            "\"\($0.key)\":\($0.value.map(String.init) ?? "null")"
        }
        return Array("{\(members.joined(separator: ","))}\n".utf8)
    }
}
