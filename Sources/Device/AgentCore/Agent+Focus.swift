import AgentWire
import DevicePorts
import Logging
import Machine
import Observability

/// Apps with the life cycle `focus`: in front while a window of theirs has the focus.
extension Agent {
    /// Begins to watch the focus, once there is an app of that life cycle.
    func watchFocus() {
        guard case .unwatched = surroundings.focus, apps.values.contains(where: { $0.manifest.lifecycle == .focus })
        else { return }
        surroundings.focus = .on([])
        guard let source = parts.focus else { return handleFocusEvent(.ended(reason: "there is no X11 display")) }
        source.start { [weak self] event in self?.enter { $0.handleFocusEvent(event) } }
    }

    func handleFocusEvent(_ event: FocusEvent) {
        switch event {
        case .focused(let process):
            surroundings.focus = .on(process.map { ProcessTree.line(of: $0, parent: parts.parent) } ?? [])
            followFocus()
        case .ended(let reason):
            logger.warning(
                "Nobody tells which window has the focus; apps with the life cycle focus are where they say.",
                metadata: [LogKey.error: "\(reason)"])
            surroundings.focus = .on([])
            followFocus()
            surroundings.focus = .unknown
        }
    }

    /// Moves the apps that follow the focus to the state that it gives them, and tells them.
    func followFocus() {
        for (id, app) in apps {
            guard let connection = app.connection, let state = stateByFocus(of: id), state != app.state else {
                continue
            }
            apps[id]?.enter(state)
            connection.send([.enter(state)])
        }
    }

    /// An app's state by the focus; `nil` where the app does not follow it, or nobody tells it. On a locked screen no app
    /// has the focus.
    func stateByFocus(of app: String) -> AppState? {
        guard case .on(let line) = surroundings.focus, apps[app]?.manifest.lifecycle == .focus else { return nil }
        // A window is that of the app which is nearest: one app may have been started by another.
        let nearest = line.lazy.compactMap { process in
            self.apps.first { $0.value.connection?.peer.process == process }?.key
        }.first
        return nearest == app && !surroundings.isScreenLocked ? .active : .background
    }
}
