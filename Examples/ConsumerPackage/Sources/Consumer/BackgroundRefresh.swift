import BackgroundTasks
import OSLog

/// Asks for a refresh in an hour, and notes where the system does no such work.
enum BackgroundRefresh {
    private static let identifier = "com.example.consumer.refresh"
    private static let log = Logger(subsystem: "com.example.consumer", category: "background")

    static func register() {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
            task.setTaskCompleted(success: true)
        }
    }

    static func schedule() {
        let request = BGAppRefreshTaskRequest(identifier: identifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 3600)
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch BGTaskScheduler.Error.unavailable {
            log.notice("no work in the background here: \(identifier, privacy: .public)")
        } catch {
            log.error("the request was refused: \(error.localizedDescription)")
        }
    }
}
