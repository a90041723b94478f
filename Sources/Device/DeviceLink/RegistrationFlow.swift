import AgentWire
import PushModel

/// Decides which registrations the server is asked for, and what its answers mean: a value.
///
/// Guarantees: what apps want last is asked for until it is answered; an answer to what an app wanted before is kept, and
/// settles nothing else; the token of an app that is gone ends.
struct RegistrationFlow: Sendable {
    /// What an app wants of its registration.
    enum Wish: Sendable, Hashable {
        case token
        case end
    }

    /// One question to the server.
    struct Request: Sendable, Hashable {
        var app: BundleID
        var team: TeamID
        var wish: Wish
        /// Whether the app was on this device when it was asked.
        var isInstalled: Bool
    }

    /// What the store keeps of an answer.
    enum Record: Sendable, Hashable {
        case token
        /// The app has ended its registration.
        case ended
        /// There is no registration.
        case nothing
    }

    /// The apps of this device, with their teams.
    private var teams: [BundleID: TeamID] = [:]
    private var wishes: [BundleID: Wish] = [:]
    /// The apps that this round has not asked for yet, the next one last.
    private var round: [BundleID] = []

    var installedApps: some Collection<BundleID> { teams.keys }

    /// The apps whose registrations are to end.
    var ending: [BundleID] { wishes.keys.filter { wishes[$0] == .end }.sorted() }

    /// What is wanted for an app and not settled yet.
    func wish(of app: BundleID) -> Wish? { wishes[app] }

    mutating func install(_ app: BundleID, team: TeamID) { teams[app] = team }
    mutating func remove(_ app: BundleID) { teams[app] = nil }
    mutating func want(_ wish: Wish, for app: BundleID) { wishes[app] = wish }

    /// Begins a round, which asks for each app once, in the order of their names.
    mutating func beginRound() { round = wishes.keys.sorted(by: >) }

    /// The next question of the round; `nil` at its end.
    ///
    /// - Parameter registeredTeam: The team for which the server gave a token to an app that is gone.
    mutating func next(registeredTeam: (BundleID) throws -> TeamID?) rethrows -> Request? {
        while let app = round.popLast() {
            guard let wish = wishes[app] else { continue }
            if let team = teams[app] { return Request(app: app, team: team, wish: wish, isInstalled: true) }
            // An app that is gone wants no token any more.
            if let team = try registeredTeam(app) {
                return Request(app: app, team: team, wish: .end, isInstalled: false)
            }
            wishes[app] = nil
        }
        return nil
    }

    /// What is stored when the server has done as it was asked, before ``settle(_:)``.
    func record(of request: Request) -> Record {
        guard request.wish == .end else { return .token }
        return request.isInstalled && teams[request.app] != nil ? .ended : .nothing
    }

    /// What is stored when the server refused, before ``settle(_:)``; `nil` for what stays as it is. It does not know what
    /// was to end for an app that is gone, so there is nothing to end.
    func recordOfRefusal(of request: Request) -> Record? {
        let record = record(of: request)
        return record == .nothing ? record : nil
    }

    /// The server has answered.
    ///
    /// - Returns: Whether that is the end of it; else there is another wish now, which wants another round.
    mutating func settle(_ request: Request) -> Bool {
        let app = request.app
        guard teams[app] != nil else {
            // What was given meanwhile ends too.
            wishes[app] = request.wish == .token ? .end : nil
            return request.wish == .end
        }
        guard request.isInstalled, wishes[app] == request.wish else { return false }
        wishes[app] = nil
        return true
    }
}
