import AgentProtocol

/// The installed apps, their connections, and the manifests of the last check.
///
/// Guarantees: a connection has one role; a role of an app has one connection, except the role `relayService`, which
/// each process of the app may have; an app counts as removed only when its manifest was missing at two checks.
package struct AppRegistry: Sendable {
    /// The apps by bundle id.
    package var apps: [BundleID: InstalledApp] = [:]
    /// The window focus, as far as it is known.
    package var focus = WindowFocus.unwatched
    private var roles: [AppConnectionID: AppRole] = [:]
    private var fingerprint: Set<String>?
    private var missing: Set<BundleID> = []
    private var isLookScheduled = false
    private var deadlines = 0

    /// A registry without apps.
    package init() {}

    // MARK: Connections

    /// The role of a connection; `nil` before its `hello`, and once another has the role.
    package func role(of connection: AppConnectionID) -> AppRole? { roles[connection] }

    /// Gives a role to a connection.
    ///
    /// - Returns: The connection that had the role before.
    package mutating func connect(_ connection: AppConnectionID, as role: AppRole) -> AppConnectionID? {
        let older = apps[role.app]?.predecessor(of: connection, as: role.role)
        if let older {
            roles[older] = nil
            apps[role.app]?.companions[older] = nil
        }
        roles[connection] = role
        if role.role == .app {
            apps[role.app]?.supervisor.run.connect(connection)
        } else {
            apps[role.app]?.companions[connection] = role.role
        }
        return older
    }

    /// A connection has ended. The app's own stays in its ``AppSupervisor/run`` until the app is waited for.
    ///
    /// - Returns: The role that it had.
    package mutating func disconnect(_ connection: AppConnectionID) -> AppRole? {
        guard let role = roles.removeValue(forKey: connection) else { return nil }
        apps[role.app]?.companions[connection] = nil
        return role
    }

    /// Takes the roles from all connections of an app, which are to be closed.
    ///
    /// - Returns: The connections to close.
    package mutating func releaseConnections(of app: BundleID) -> [AppConnectionID] {
        let connections = apps[app]?.allConnections ?? []
        for connection in connections { roles[connection] = nil }
        return connections
    }

    /// Gives an app time to connect.
    ///
    /// - Returns: The number of the deadline, for ``AppSupervisor/Event/returnLimitPassed(deadline:)``.
    package mutating func awaitReconnect(of app: BundleID) -> Int {
        deadlines += 1
        apps[app]?.supervisor.run.awaitReconnect(deadline: deadlines)
        return deadlines
    }

    // MARK: Manifests

    /// Records the fingerprint of the folder of manifests, and returns whether it has changed.
    ///
    /// - Parameter new: The result of ``AppFolder/mark()``.
    package mutating func updateFingerprint(_ new: Set<String>) -> Bool {
        guard new != fingerprint else { return false }
        fingerprint = new
        return true
    }

    /// Makes the next check read the manifests, even if the folder is unchanged.
    package mutating func forgetManifests() { fingerprint = nil }

    /// Returns whether a further check must be scheduled; counts as scheduled from now on.
    package mutating func scheduleLook() -> Bool {
        defer { isLookScheduled = true }
        return !isLookScheduled
    }

    /// The look that was scheduled happens now.
    package mutating func beginLook() { isLookScheduled = false }

    /// An app's manifest is not there.
    ///
    /// - Returns: Whether it was there at the look before.
    package mutating func noteMissing(_ app: BundleID) -> Bool { missing.insert(app).inserted }

    /// Whether an app's manifest was missing.
    package func isMissing(_ app: BundleID) -> Bool { missing.contains(app) }

    /// The second check of an app whose manifest was missing is over.
    package mutating func endMissing(_ app: BundleID) { missing.remove(app) }
}
