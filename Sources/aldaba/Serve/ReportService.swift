import AldabaConfiguration
import Logging
import PushCore
import PushServer
import ServiceLifecycle

extension ServerParts {
    /// Keeps this server's reports.
    var reportSweep: ReportSweep {
        ReportSweep(store: store, withdrawal: mailboxes, clock: clock, logger: logger)
    }

    /// Answers for this server's reports.
    var reports: ReportsInterface {
        ReportsInterface(
            store: store, sweep: reportSweep, timelines: Timelines(store: store, mailboxes: mailboxes),
            authentication: authentication, clock: clock, flush: mailboxes.flushNotes)
    }
}

/// Counts what has happened, once a second.
struct ReportService: Service, CustomStringConvertible {
    let parts: ServerParts
    var description: String { "reports" }

    func run() async throws {
        let sweep = parts.reportSweep
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                if parts.mailboxes.hasDuties { await sweep.round() }
            }
        }
    }
}
