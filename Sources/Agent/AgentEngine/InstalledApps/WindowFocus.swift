import AgentProtocol

/// The process whose window has the focus. Apps with the life cycle `focus` are in the foreground while one of their
/// windows has it.
package enum WindowFocus: Hashable, Sendable {
    /// The focus is not watched: no app has that life cycle.
    case unwatched
    /// The process whose window has it, then its parent, and so on up; empty where no known process has it.
    case on([Int32])
    /// The focus cannot be observed: apps of that life cycle are in the state that they declare.
    case unknown
}

extension AppRegistry {
    /// Whether the focus must be watched, and is not.
    package var wantsFocus: Bool {
        guard case .unwatched = focus else { return false }
        return apps.values.contains { $0.manifest.lifecycle == .focus }
    }

    /// Moves the apps that follow the focus to the state that it gives them.
    ///
    /// - Parameter isScreenLocked: On a locked screen no app has the focus.
    /// - Returns: The connections whose apps changed state, and the new states.
    package mutating func followWindowFocus(isScreenLocked: Bool) -> [(connection: AppConnectionID, state: AppState)] {
        apps.keys.compactMap { id in
            guard let app = apps[id], let connection = app.connection,
                let state = stateByFocus(of: id, isScreenLocked: isScreenLocked), state != app.supervisor.state
            else { return nil }
            apps[id]?.enter(state)
            return (connection, state)
        }
    }

    /// An app's state by the focus; `nil` where the app does not follow it, or the focus is unknown.
    package func stateByFocus(of app: BundleID, isScreenLocked: Bool) -> AppState? {
        guard case .on(let line) = focus, apps[app]?.manifest.lifecycle == .focus else { return nil }
        // A window is that of the app which is nearest: one app may have been started by another.
        let nearest = line.lazy.compactMap { process in
            apps.first { $0.value.connection?.process == process }?.key
        }.first
        return nearest == app && !isScreenLocked ? .active : .background
    }
}
