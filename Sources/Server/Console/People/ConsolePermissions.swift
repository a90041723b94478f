import Hummingbird
import PushServer

/// The table of the console's routes and the roles that may call them. A route without a row is closed.
enum ConsolePermissions {
    /// The lowest role that a route needs.
    enum Need: Hashable, Sendable {
        /// No session.
        case anyone
        /// A session, whatever the role is.
        case person
        /// Reading; also the person in support of the device that a parameter of the path names.
        case readerOfDevice(String)
        /// Reading.
        case reader
        /// Notifications and campaigns.
        case sender
        /// Apps, keys, devices and settings.
        case admin
        /// People.
        case owner

        /// The lowest role; `nil` for any.
        fileprivate var role: PersonRole? {
            switch self {
            case .anyone, .person: nil
            case .readerOfDevice, .reader: .reader
            case .sender: .sender
            case .admin: .admin
            case .owner: .owner
            }
        }
    }

    /// The row of a route.
    struct Rule: Hashable, Sendable {
        /// The method and the path, `GET notifications/:id`.
        var route: String
        var need: Need
        /// Whether the route acts for all teams, so that a role in one team is not enough.
        var isForAllTeams = false
        /// Whether the person must have shown recently who it is.
        var needsConfirmation = false
        /// The page with the form of the route.
        var page = "/console/"

        /// Whether a user may call the route.
        func admits(_ user: SignedInUser, _ context: ControlContext) -> Bool {
            admits(user.membership) { context.parameters.get($0) }
        }

        /// Whether a membership includes the route.
        func admits(_ membership: PersonMembership?, parameter: (String) -> String?) -> Bool {
            guard let lowest = need.role else { return true }
            guard let membership else { return false }
            if case .readerOfDevice(let name) = need, membership.role == .support, let device = membership.device {
                return parameter(name) == device.description
            }
            guard membership.role.includes(lowest) else { return false }
            return !isForAllTeams || membership.team == nil
        }
    }

    /// The row of a route, `GET notifications/:id`; `nil` where there is none.
    static func rule(_ route: String) -> Rule? { byRoute[route] }

    private static let byRoute = Dictionary(rules.map { ($0.route, $0) }, uniquingKeysWith: { first, _ in first })

    /// The rows, in the order of the roles.
    static let rules: [Rule] = open + reading + sending + administration + hubs + account + people

    private static func rule(
        _ route: String, _ need: Need, all: Bool = false, confirmed: Bool = false, page: String = "/console/"
    ) -> Rule {
        Rule(route: route, need: need, isForAllTeams: all, needsConfirmation: confirmed, page: page)
    }

    private static let open = [
        rule("GET language", .anyone), rule("GET preferences", .anyone), rule("POST preferences", .anyone),
        rule("GET login", .anyone), rule("POST login", .anyone),
        rule("GET login/provider", .anyone), rule("GET login/callback", .anyone), rule("GET setup", .anyone),
        rule("POST setup", .anyone),
        rule("POST logout", .person), rule("GET sessions", .person), rule("POST sessions/end", .person),
        rule("POST sessions/:id/end", .person), rule("POST team", .person), rule("GET confirm", .person),
        rule("POST confirm", .person), rule("GET **", .person),
    ]

    private static let reading = [
        rule("GET ", .reader), rule("GET inbox/events", .reader), rule("GET api", .reader),
        rule("GET notifications/:id", .reader),
        rule("GET notifications/:id/timeline", .reader), rule("GET devices", .reader),
        rule("GET devices/:id", .readerOfDevice("id")), rule("GET health", .reader, all: true),
        rule("GET relay", .reader, all: true),
    ]

    private static let sending = [
        rule("POST notifications/:id/withdraw", .sender), rule("POST notifications/:id/resend", .sender),
        rule("POST devices/:id/test", .sender),
        rule("GET compose", .sender), rule("POST compose/preview", .sender), rule("POST compose/send", .sender),
        rule("POST compose/import", .sender),
    ]

    private static let administration = [
        // A device is blocked and revoked for the apps of all teams.
        rule("POST devices/:id/block", .admin, all: true), rule("POST devices/:id/unblock", .admin, all: true),
        rule("POST devices/:id/revoke", .admin, all: true, confirmed: true, page: "/console/devices"),
        rule("GET audit", .admin, all: true), rule("GET audit/export", .admin, all: true),
    ]

    private static let people = [
        rule("GET accounts", .admin),
        rule("POST accounts", .admin, confirmed: true, page: "/console/accounts"),
        rule("POST accounts/:id/roles", .admin, confirmed: true, page: "/console/accounts"),
        rule("POST accounts/:id/link", .owner, all: true, confirmed: true, page: "/console/accounts"),
        rule("POST accounts/:id/remove", .owner, all: true, confirmed: true, page: "/console/accounts"),
    ]
}
