import AgentWire
import DevicePorts
import Logging
import Observability

/// Apps that the session bus starts.
extension Agent {
    /// Has the session bus activate an app, where its manifest allows that and the app is to be in front.
    ///
    /// - Returns: Whether that is under way; then its program must not be started too.
    func activate(_ app: String) -> Bool {
        guard let installed = apps[app], installed.manifest.dbusActivatable, installed.nextState == .active,
            let activator = parts.activator
        else { return false }
        apps[app]?.run.activate()
        let activation = AppActivation(busName: installed.manifest.busName, token: installed.activationToken)
        activator.activate(activation) { [weak self] outcome in self?.enter { $0.activated(app, outcome) } }
        return true
    }

    private func activated(_ app: String, _ outcome: AppActivationOutcome) {
        switch outcome {
        case .activated:
            logger.info("An app was activated over the session bus.", metadata: [LogKey.topic: "\(app)"])
            // It runs, and is given the time to connect.
            if case .activating? = apps[app]?.run { startReconnectTimer(of: app) }
        case .notStarted(let reason):
            launchInstead(app, reason)
        case .unanswered(let reason) where apps[app]?.connection != nil:
            logger.info(
                "An app is connected that did not answer its activation.",
                metadata: [LogKey.topic: "\(app)", LogKey.error: "\(reason)"])
        case .unanswered(let reason):
            // The app may run, and a second process would take its place: it is given the time to connect.
            enter(after: timing.returnLimit) { $0.launchInstead(app, reason) }
        }
    }

    /// Starts the program of an app that the session bus did not start.
    private func launchInstead(_ app: String, _ reason: String) {
        guard apps[app]?.run.activationFailed() == true else { return }
        logger.warning(
            "An app could not be activated over the session bus; its program is started.",
            metadata: [LogKey.topic: "\(app)", LogKey.error: "\(reason)"])
        launch(app)
    }
}
