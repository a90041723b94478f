import PushCore

/// The id of a person who uses the console.
package struct PersonID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The text of the id.
    package let rawValue: String

    /// An id by its text.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// The text of the id.
    package var description: String { rawValue }
}

/// The roles of a person in the console.
package enum PersonRole: String, Sendable, Hashable, CaseIterable {
    /// All of it, people too.
    case owner
    /// Apps, keys, devices and settings.
    case admin
    /// Notifications and campaigns.
    case sender
    /// Reading.
    case reader
    /// Reading the pages of one device.
    case support

    /// Whether the role includes what another role may do.
    package func includes(_ other: PersonRole) -> Bool { rank >= other.rank }

    private var rank: Int {
        switch self {
        case .support: 0
        case .reader: 1
        case .sender: 2
        case .admin: 3
        case .owner: 4
        }
    }
}

/// A role of a person in one team, or in all teams.
package struct PersonMembership: Hashable, Sendable {
    /// The role.
    package var role: PersonRole
    /// The team; `nil` for all teams.
    package var team: TeamID?
    /// The device that a person in support sees; `nil` for other roles.
    package var device: DeviceID?

    /// Creates a membership.
    package init(_ role: PersonRole, team: TeamID? = nil, device: DeviceID? = nil) {
        self.role = role
        self.team = team
        self.device = device
    }
}

/// The identity of a person at an OpenID provider.
package struct ExternalIdentity: Hashable, Sendable {
    /// `iss`: the provider.
    package var issuer: String
    /// `sub`: the person there.
    package var subject: String

    /// Creates an identity.
    package init(issuer: String, subject: String) {
        self.issuer = issuer
        self.subject = subject
    }
}

/// A person who uses the console.
package struct Person: Hashable, Sendable {
    /// The id, which never changes.
    package let id: PersonID
    /// The name for logging in, which no other person has.
    package var name: String
    /// The hash of the password; `nil` for a person without one.
    package var password: PasswordHash?
    /// The identity at an OpenID provider; `nil` for a person without one.
    package var identity: ExternalIdentity?
    /// The roles, at most one for each team.
    package var memberships: [PersonMembership]
    /// The time at which the person was added.
    package var createdAt: Timestamp

    /// Creates a person.
    package init(
        id: PersonID, name: String, password: PasswordHash? = nil, identity: ExternalIdentity? = nil,
        memberships: [PersonMembership], createdAt: Timestamp
    ) {
        self.id = id
        self.name = name
        self.password = password
        self.identity = identity
        self.memberships = memberships
        self.createdAt = createdAt
    }

    /// Whether the person owns the whole server.
    package var isOwner: Bool { memberships.contains { $0.role == .owner && $0.team == nil } }

    /// The membership in a team that was chosen; else the first one.
    package func membership(in team: TeamID?) -> PersonMembership? {
        memberships.first { $0.team == team } ?? memberships.first
    }

    /// The name as it is stored: lower case, without blanks around it; `nil` for a text that is no name.
    package static func name(_ text: String) -> String? {
        let name = text.lowercased()
        let isName =
            (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A: true
                default: "-_.@+".utf8.contains(byte)
                }
            }
        return isName ? name : nil
    }
}

/// Why people cannot be changed.
package enum PeopleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another person has the name.
    case nameTaken(String)
    /// Another person has the identity.
    case identityTaken
    /// The change would leave no owner of all teams.
    case lastOwner

    package var description: String {
        switch self {
        case .nameTaken(let name): "there is a person \(name) already; choose another name"
        case .identityTaken: "another person has that identity"
        case .lastOwner: "one person must stay owner of all teams; make another person owner first"
        }
    }
}
