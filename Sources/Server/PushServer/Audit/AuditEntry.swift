import PushCore

/// The party that made a change.
package enum AuditActor: Sendable, Hashable {
    /// A person who has signed in to the console.
    case person(String)
    /// Whoever opens the console of a server without accounts.
    case console
    /// The holder of a credential: its team, and the id or name of its key where that is known.
    case credential(team: String, key: String?)
    /// A user of the operating system, at the command line.
    case user(name: String, number: UInt32)
    /// A caller of the development listener, which asks for no credential.
    case development

    /// The actor of the requests that the current task makes on somebody's behalf; `nil` outside of the console.
    @TaskLocal package static var current: AuditActor?

    /// The kind of the actor, as it is stored and exported.
    package var kind: String {
        switch self {
        case .person: "person"
        case .console: "console"
        case .credential: "credential"
        case .user: "user"
        case .development: "development"
        }
    }

    /// The name of the actor: a person, a team, a user; otherwise its kind.
    package var name: String {
        switch self {
        case .person(let name), .user(let name, _), .credential(let name, _): name
        case .console, .development: kind
        }
    }

    /// The key of a credential, or the number of a user.
    package var id: String? {
        switch self {
        case .credential(_, let key): key
        case .user(_, let number): String(number)
        case .person, .console, .development: nil
        }
    }

    /// Reads an actor from its stored parts.
    package init(kind: String, name: String, id: String?) {
        switch kind {
        case "person": self = .person(name)
        case "credential": self = .credential(team: name, key: id)
        case "user": self = .user(name: name, number: id.flatMap { UInt32($0) } ?? 0)
        case "console": self = .console
        default: self = .development
        }
    }
}

/// The interface by which a change came.
package enum AuditOrigin: String, Sendable, CaseIterable {
    /// A page of the console.
    case console
    /// A request of the API.
    case api
    /// A command of `aldaba`.
    case command

    /// The beginning of `User-Agent` in the requests of commands. It is the caller's own claim.
    package static let commandAgent = "aldaba-command"

    /// The origin of a request with this `User-Agent`.
    package init(agent: String?) { self = agent?.hasPrefix(Self.commandAgent) == true ? .command : .api }
}

/// The result of a change.
package enum AuditOutcome: String, Sendable, CaseIterable {
    /// The change was made.
    case done
    /// The change was refused: nothing is different.
    case refused
    /// The change failed; a part of it may have been made.
    case failed
}

/// A change that is about to be made.
package struct AuditChange: Sendable, Hashable {
    /// The kind of the change.
    package var action: AuditAction
    /// The name or id of what is changed; empty where it gets one by the change.
    package var object: String
    /// The team that owns the object, where one does.
    package var team: String?

    /// Describes a change.
    package init(_ action: AuditAction, _ object: String, team: String? = nil) {
        self.action = action
        self.object = object
        self.team = team
    }
}

/// An entry of the audit log.
package struct AuditEntry: Sendable, Hashable {
    /// The place in the log, from 1 on.
    package var number: Int64 = 0
    /// The time before the change.
    package var at: Timestamp
    /// The party that made the change.
    package var actor: AuditActor
    /// The interface by which the change came.
    package var origin: AuditOrigin
    /// The kind of the change, as it is stored.
    package var action: String
    /// The name or id of what was changed.
    package var object: String
    /// The team that owns the object, where one does.
    package var team: String?
    /// The object before the change, as JSON without secrets.
    package var before: String?
    /// The end of the change; `nil` while it is made, and where its end could not be written.
    package var end: AuditEnd?

    /// An entry for a change that is about to be made.
    package init(
        at: Timestamp, actor: AuditActor, origin: AuditOrigin, action: String, object: String, team: String? = nil,
        before: String? = nil
    ) {
        self.at = at
        self.actor = actor
        self.origin = origin
        self.action = action
        self.object = object
        self.team = team
        self.before = before
    }

    /// The entry in the form of the API.
    package var json: JSONValue {
        func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
        func tree(_ text: String?) -> JSONValue { text.flatMap { try? JSONValue(text: $0) } ?? .null }
        return .object([
            .init("number", .number(String(number))), .init("at", .string(at.description)),
            .init("origin", .string(origin.rawValue)),
            .init(
                "actor",
                .object([
                    .init("kind", .string(actor.kind)), .init("name", .string(actor.name)),
                    .init("id", text(actor.id)),
                ])),
            .init("action", .string(action)), .init("object", .string(object)), .init("team", text(team)),
            .init("outcome", .string(end?.outcome.rawValue ?? "unknown")), .init("endedAt", text(end?.at.description)),
            .init("before", tree(before)), .init("after", tree(end?.after)),
        ])
    }
}

/// The end of a change.
package struct AuditEnd: Sendable, Hashable {
    /// The time after the change.
    package var at: Timestamp
    /// The result.
    package var outcome: AuditOutcome
    /// The name or id that the object got by the change.
    package var object: String?
    /// The object after the change, as JSON without secrets.
    package var after: String?

    /// Describes the end of a change.
    package init(at: Timestamp, outcome: AuditOutcome, object: String? = nil, after: String? = nil) {
        self.at = at
        self.outcome = outcome
        self.object = object
        self.after = after
    }
}
