import AgentEngine
import AgentProtocol
import Logging
import Networking
import PushCore

/// Log messages for the notices of the engines.
extension Logger {
    func log(_ notice: RequestSchedule.Notice) {
        switch notice {
        case .clockChanged:
            debug("The clock was set, or the machine has slept: what waits is looked at anew.")
        case .clockSuspect(let state):
            let direction = if case .suspectBehind = state { "behind" } else { "ahead of" }
            self.notice(
                "The clock is more than a day \(direction) the time that is known; what waits for a date waits for a minute."
            )
        case .clockTrusted: info("The clock is trusted again; what waits for a date is looked at anew.")
        case .zonesChanged:
            debug(
                "The machine may be in another time zone, or zones have other rules: what waits is looked at anew.")
        case .zoneUnknown(let app):
            warning(
                "A notification waits in a time zone that this machine does not know.",
                metadata: [LogKey.topic: "\(app)"])
        case .regionRefused(let app, let refusal):
            warning(
                "A notification waits for a place that cannot be watched for.",
                metadata: [LogKey.topic: "\(app)", LogKey.error: "\(refusal)"])
        case .positionUnknown(let reason):
            warning("Where this machine is, is not known.", metadata: [LogKey.error: "\(reason)"])
        case .positionRefused: warning("A position that is not on the earth was passed over.")
        }
    }

    func log(_ notice: AppSupervisor<AppConnectionID>.Notice, of app: BundleID) {
        switch notice {
        case .activated:
            info("An app was activated over the session bus.", metadata: [LogKey.topic: "\(app)"])
        case .activationUnanswered(let reason):
            info(
                "An app is connected that did not answer its activation.",
                metadata: [LogKey.topic: "\(app)", LogKey.error: "\(reason)"])
        case .launchedInstead(let reason):
            warning(
                "An app could not be activated over the session bus; its program is started.",
                metadata: [LogKey.topic: "\(app)", LogKey.error: "\(reason)"])
        case .startedTooOften:
            warning(
                "An app ended again without answering; it is not started for that any more.",
                metadata: [LogKey.topic: "\(app)"])
        case .wokenLater:
            info("An app is woken later: its budget is spent.", metadata: [LogKey.topic: "\(app)"])
        }
    }
}
