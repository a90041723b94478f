import FCMProtocol
import PushCore
import PushServer

/// A team with what it owns, as commands show it; its members are those of the JSON.
package struct TeamView: Encodable, Sendable, Equatable {
    /// Ten characters `A-Z0-9`.
    package var teamId: String
    /// The team's name; `nil` for a team that was never added and only owns something.
    package var name: String?
    /// Bundle ids.
    package var apps: [String] = []
    /// Ids of keys that were not revoked.
    package var keys: [String] = []
    /// Ids of certificates that were not revoked.
    package var certificates: [String] = []

    /// E-mails of service accounts that were not revoked.
    package var serviceAccounts: [String] = []
    /// The team as FCM's project.
    package var projectId: String
    /// The project's number, FCM's sender id; `nil` for an id that has not the shape of a team's.
    package var senderId: String?

    /// A team that owns nothing yet.
    package init(id: String, name: String? = nil) {
        teamId = id
        self.name = name
        projectId = ProjectName.id(of: TeamID(rawValue: id))
        senderId = ProjectNumber(TeamID(rawValue: id))?.description
    }

    /// All teams of a register, in the order of their ids: those that were added, and those that own something.
    package static func all(
        named: [RegisteredTeam], apps: [RegisteredApp], keys: [ProviderKey], certificates: [RegisteredCertificate],
        serviceAccounts: [ServiceAccount] = []
    ) -> [TeamView] {
        var teams: [String: TeamView] = [:]
        func change(_ team: TeamID, _ body: (inout TeamView) -> Void) {
            body(&teams[team.rawValue, default: TeamView(id: team.rawValue)])
        }
        for team in named { change(team.id) { $0.name = team.name } }
        for app in apps { change(app.team) { $0.apps.append(app.topic.rawValue) } }
        for key in keys { change(key.team) { $0.keys.append(key.keyID.rawValue) } }
        for entry in certificates where entry.revokedAt == nil {
            change(entry.team) { $0.certificates.append(entry.certificateID) }
        }
        for account in serviceAccounts where account.revokedAt == nil {
            change(account.team) { $0.serviceAccounts.append(account.email) }
        }
        return teams.values.sorted { $0.teamId < $1.teamId }
    }

    /// The team, and a line for each thing that it owns.
    package var lines: [String] {
        [TerminalText.line("\(teamId)  \(name ?? "(without a name)")")] + apps.map { "  app \($0)" }
            + keys.map { "  key \($0)" } + certificates.map { "  certificate \($0)" }
            + serviceAccounts.map { "  service account \($0)" }
    }
}
