import PushCore
import PushServer

/// The user of a page, with the rights of the session.
struct SignedInUser: Sendable {
    /// The scope of a user in the API.
    struct Scope: Sendable {
        /// The team; `nil` for all teams.
        var team: TeamID?
        /// Whether what notifications say is shown.
        var seesPayloads = true
        /// The person that the audit log names.
        var actor = AuditActor.console
        /// Whether the session goes on with the same roles; `nil` where there are no sessions.
        var isCurrent: (@Sendable () async throws -> Bool)?
    }

    /// The properties of a request by a person with a session.
    private struct Known: Sendable {
        let secret: OneSecret
        let session: ConsoleSession
        let person: Person
        let membership: PersonMembership?
    }

    private var known: Known?
    /// The scope of the user in the API.
    let scope: Scope

    /// Whoever opens a console without people.
    static let open = SignedInUser(known: nil, scope: Scope())
    /// A user who has not logged in.
    static let nobody = SignedInUser(
        known: nil, scope: Scope(team: TeamID(rawValue: ""), seesPayloads: false))

    private init(known: Known?, scope: Scope) {
        self.known = known
        self.scope = scope
    }

    /// A person in a session of a console.
    init(secret: OneSecret, session: ConsoleSession, person: Person, of people: ConsolePeople) {
        let membership = person.membership(in: session.team)
        known = Known(secret: secret, session: session, person: person, membership: membership)
        // A person without a role sees the team that nobody has.
        let team = membership.map(\.team) ?? TeamID(rawValue: "")
        let sees =
            membership.map { membership in people.payloads.map { membership.role.includes($0) } ?? true } ?? false
        scope = Scope(team: team, seesPayloads: sees, actor: .person(person.name)) {
            try await people.service.isCurrent(secret, memberships: person.memberships)
        }
    }

    /// The person; `nil` for others.
    var person: Person? { known?.person }
    /// The session; `nil` for others.
    var session: ConsoleSession? { known?.session }
    /// The secret of the session; `nil` for others.
    var secret: OneSecret? { known?.secret }
    /// The role in which the person acts; `nil` for others.
    var membership: PersonMembership? { known?.membership }
    /// Whether the console has no people.
    var isOpen: Bool { known == nil && scope.seesPayloads }
    /// The token of forms; `nil` where forms have none.
    var formToken: String? { known?.secret.derived(for: "form") }
    /// The only page that a person in support begins at; `nil` for others.
    var onlyPage: String? {
        guard let membership, membership.role == .support else { return nil }
        return membership.device.map { "/console/devices/\($0)" } ?? "/console/sessions"
    }

    /// Whether the person has shown recently who it is.
    func isConfirmed(forForm isForm: Bool, at now: Timestamp) -> Bool {
        known?.session.isConfirmed(forForm: isForm, at: now) ?? true
    }
}
