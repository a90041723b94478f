import AgentEngine
import AgentProtocol
import PushCore

/// Decides which registrations to request from the server, and what its answers mean: a value.
///
/// Guarantees: an app's last change is requested until it is answered. An answer to an earlier change is stored, and
/// settles nothing else. The token of a removed app is ended.
struct RegistrationFlow: Sendable {
    /// The change that an app wants of its registration.
    enum RequestedChange: Sendable, Hashable {
        case token
        case end
    }

    /// A registration request to the server.
    struct Request: Sendable, Hashable {
        var app: BundleID
        var team: TeamID
        var change: RequestedChange
        /// Whether the app was on this device when it was asked.
        var isInstalled: Bool
    }

    /// The record of an answer in the store.
    enum Record: Sendable, Hashable {
        case token
        /// The app has ended its registration.
        case ended
        /// There is no registration.
        case nothing
    }

    /// The apps of this device, with their teams.
    private var teams: [BundleID: TeamID] = [:]
    private var requestedChanges: [BundleID: RequestedChange] = [:]
    /// The apps that this round has not asked for yet, the next one last.
    private var round: [BundleID] = []

    var installedApps: some Collection<BundleID> { teams.keys }

    /// The apps whose registrations are to end.
    var ending: [BundleID] { requestedChanges.keys.filter { requestedChanges[$0] == .end }.sorted() }

    /// The change that an app wants and that is not settled yet.
    func requestedChange(of app: BundleID) -> RequestedChange? { requestedChanges[app] }

    mutating func install(_ app: BundleID, team: TeamID) { teams[app] = team }
    mutating func remove(_ app: BundleID) { teams[app] = nil }
    mutating func setRequestedChange(_ change: RequestedChange, for app: BundleID) { requestedChanges[app] = change }

    /// Begins a round, which asks for each app once, in the order of their names.
    mutating func beginRound() { round = requestedChanges.keys.sorted(by: >) }

    /// The next request of the round; `nil` at its end.
    ///
    /// - Parameter registeredTeam: The team for which the server gave a token to a removed app.
    mutating func next(registeredTeam: (BundleID) throws -> TeamID?) rethrows -> Request? {
        while let app = round.popLast() {
            guard let change = requestedChanges[app] else { continue }
            if let team = teams[app] { return Request(app: app, team: team, change: change, isInstalled: true) }
            // A removed app needs no token any more.
            if let team = try registeredTeam(app) {
                return Request(app: app, team: team, change: .end, isInstalled: false)
            }
            requestedChanges[app] = nil
        }
        return nil
    }

    /// The record to store before ``settle(_:)``, when the server has done what was asked.
    func record(of request: Request) -> Record {
        guard request.change == .end else { return .token }
        return request.isInstalled && teams[request.app] != nil ? .ended : .nothing
    }

    /// The record to store before ``settle(_:)``, when the server refused; `nil` for no change. The server refuses to
    /// end a registration that it does not know, so for a removed app there is nothing left to end.
    func recordOfRefusal(of request: Request) -> Record? {
        let record = record(of: request)
        return record == .nothing ? record : nil
    }

    /// The server has answered.
    ///
    /// - Returns: Whether that is the end of it; else there is another change now, which wants another round.
    mutating func settle(_ request: Request) -> Bool {
        let app = request.app
        guard teams[app] != nil else {
            // A token that was given meanwhile is ended too.
            requestedChanges[app] = request.change == .token ? .end : nil
            return request.change == .end
        }
        guard request.isInstalled, requestedChanges[app] == request.change else { return false }
        requestedChanges[app] = nil
        return true
    }
}
