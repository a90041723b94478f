import NIOCore
import Networking
import PushCore
import Synchronization

/// Logs people in and out, and changes who they are.
package final class PeopleService: Sendable {
    /// The origin of a log-in.
    package struct Origin: Sendable {
        /// The peer's address; `nil` for a Unix socket.
        package var address: SocketAddress?
        /// `User-Agent`.
        package var agent: String?

        /// Creates an origin.
        package init(address: SocketAddress?, agent: String?) {
            self.address = address
            self.agent = agent
        }
    }

    /// The outcome of a log-in.
    package enum LogIn: Sendable {
        /// The session's secret, for the cookie, and the person.
        case begun(OneSecret, Person)
        /// The name or the password is wrong.
        case refused
        /// So many seconds must pass first.
        case later(seconds: Int64)
    }

    /// The store of people and their sessions.
    package let store: any PeopleStore
    private let checks: PasswordChecks
    private let clock: @Sendable () -> Timestamp
    private let throttle = Mutex(LogInThrottle())

    /// Serves the people of a store.
    package init(store: any PeopleStore, checks: PasswordChecks, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.checks = checks
        self.clock = clock
    }

    /// The present time.
    package var now: Timestamp { clock() }

    /// Begins a session for a name and a password.
    ///
    /// A name that nobody has takes as long as a wrong password.
    /// - Parameter earlier: The session that the browser had, which ends.
    package func logIn(
        name text: String, password: String, from origin: Origin, endingSession earlier: OneSecret?
    ) async throws -> LogIn {
        let name = Person.name(text) ?? ""
        let network = ClientAddress(origin.address)
        let found = try await store.person(named: name)
        let isKnown = try await isKnown(found, network)
        let pause = throttle.withLock { $0.pause(name: name, address: network, isKnown: isKnown, at: now) }
        guard pause == 0 else { return .later(seconds: (pause + 999) / 1000) }
        // Counted before the check: guesses that arrive together must not all pass.
        throttle.withLock { $0.noteFailure(name: name, address: network, isKnown: isKnown, at: now) }
        guard try await checks.matches(password, found?.password), let person = found else { return .refused }
        throttle.withLock { $0.noteSuccess(name: name, address: network, isKnown: isKnown) }
        return .begun(try await begin(person, from: origin, endingSession: earlier), person)
    }

    private func isKnown(_ person: Person?, _ network: ClientAddress?) async throws -> Bool {
        // Without a person the same statement is run, with the same answer as for one who was never here.
        let sessions = try await store.sessions(of: person?.id ?? PersonID(rawValue: ""))
        return sessions.contains { session in
            let address = try? SocketAddress(ipAddress: session.address, port: 0)
            return address != nil && ClientAddress(address) == network
        }
    }

    /// Begins a session for a person who has shown who it is.
    package func begin(
        _ person: Person, from origin: Origin, endingSession earlier: OneSecret?
    ) async throws -> OneSecret {
        let now = now
        if let earlier { _ = try await store.endSession(earlier.hash) }
        let secret = OneSecret()
        try await store.forgetSessions(usedBefore: now - ConsoleSession.idle, now: now)
        try await store.addSession(
            ConsoleSession(
                hash: secret.hash, person: person.id, createdAt: now, confirmedAt: now, usedAt: now,
                address: origin.address?.ipAddress ?? "", agent: String((origin.agent ?? "").prefix(200)),
                team: person.memberships.first?.team))
        return secret
    }

    /// The session of a cookie and its person; `nil` for one that has ended.
    package func session(_ secret: OneSecret) async throws -> (ConsoleSession, Person)? {
        let now = now
        guard let session = try await store.session(secret.hash), !session.isOver(at: now),
            let person = try await store.person(session.person)
        else { return nil }
        if now > session.usedAt + ConsoleSession.noted { try await store.noteUse(ofSession: session.hash, at: now) }
        return (session, person)
    }

    /// Whether a session goes on, and its person still has the roles. The check is not a use of the session.
    package func isCurrent(_ secret: OneSecret, memberships: [PersonMembership]) async throws -> Bool {
        guard let session = try await store.session(secret.hash), !session.isOver(at: now),
            let person = try await store.person(session.person)
        else { return false }
        return person.memberships == memberships
    }

    /// Makes a link by which the first owner, or a person, sets a password.
    package func makeLink(for person: PersonID?, lasting duration: Duration) async throws -> OneSecret {
        try await Self.makeLink(for: person, lasting: duration, in: store, at: now)
    }

    /// Makes a link in a store, as ``makeLink(for:lasting:)`` does.
    package static func makeLink(
        for person: PersonID?, lasting duration: Duration, in store: any PeopleStore, at now: Timestamp
    ) async throws -> OneSecret {
        let secret = OneSecret()
        try await store.addLink(PersonLink(hash: secret.hash, person: person, expiresAt: now + duration))
        return secret
    }

    /// The link of a secret; `nil` for one that has expired or was used.
    package func link(_ secret: OneSecret) async throws -> PersonLink? {
        guard let link = try await store.link(secret.hash), link.expiresAt > now else { return nil }
        if link.person == nil, try await !store.people().isEmpty { return nil }
        return link
    }

    /// Uses a link: sets the password, and makes the first owner where the link is for one.
    ///
    /// - Parameter name: The name of the first owner, in its stored form.
    /// - Returns: The person; `nil` where the link has expired or was used.
    package func setUp(_ secret: OneSecret, name: String, password: String) async throws -> Person? {
        guard try await link(secret) != nil else { return nil }
        let hash = try await checks.hash(password)
        // Another request may have used the link meanwhile.
        guard let link = try await store.useLink(secret.hash), link.expiresAt > now else { return nil }
        if let id = link.person {
            guard var person = try await store.person(id) else { return nil }
            person.password = hash
            guard try await store.changePerson(person) else { return nil }
            // Whoever knew the earlier password is out.
            try await store.endSessions(of: id, except: nil)
            return person
        }
        let person = Person(
            id: Self.newID(), name: name, password: hash, memberships: [PersonMembership(.owner)], createdAt: now)
        return try await store.addFirstPerson(person) ? person : nil
    }

    /// Uses a link of a person by an identity at an OpenID provider in the place of a password.
    ///
    /// - Returns: The person; `nil` where the link has expired or was used, or is for the first owner.
    /// - Throws: ``PeopleError/identityTaken``.
    package func connect(_ secret: OneSecret, to identity: ExternalIdentity) async throws -> Person? {
        guard let id = try await link(secret)?.person, var person = try await store.person(id) else { return nil }
        person.identity = identity
        guard try await store.changePerson(person), try await store.useLink(secret.hash) != nil else { return nil }
        try await store.endSessions(of: id, except: nil)
        return person
    }

    /// Draws the id of a new person.
    package static func newID() -> PersonID { PersonID(rawValue: String(OneSecret().text.prefix(16))) }
}
