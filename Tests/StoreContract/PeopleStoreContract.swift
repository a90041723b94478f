import PushCore
import PushServer
import Testing

/// What every ``PeopleStore`` must do; a store's test suite runs each rule against a fresh store.
package struct PeopleStoreContract {
    let store: any PeopleStore
    private let now = Timestamp(seconds: 1_780_272_000)

    /// The rules for a store.
    package init(_ store: any PeopleStore) { self.store = store }

    /// All that a ``PeopleStore`` must do.
    package static var rules: [ContractRule<Self>] {
        [
            ContractRule("people") { try await $0.`a person is read back as it was added and changed`() },
            ContractRule("names") { try await $0.`names and identities are given once`() },
            ContractRule("first") { try await $0.`the first person is added once`() },
            ContractRule("owner") { try await $0.`an owner stays`() },
            ContractRule("sessions") { try await $0.`a session lasts until it ends, or its person`() },
            ContractRule("links") { try await $0.`a link is used once, and the newest is valid`() },
            ContractRule("times") { try await $0.`what is over is forgotten`() },
        ]
    }

    private func person(_ name: String, _ memberships: [PersonMembership] = [PersonMembership(.reader)]) -> Person {
        Person(id: PersonID(rawValue: "id-\(name)"), name: name, memberships: memberships, createdAt: now)
    }

    private func session(_ byte: UInt8, of name: String, at time: Timestamp? = nil) -> ConsoleSession {
        ConsoleSession(
            hash: [byte], person: PersonID(rawValue: "id-\(name)"), createdAt: time ?? now, confirmedAt: time ?? now,
            usedAt: time ?? now, address: "192.0.2.1", agent: "Browser")
    }

    package func `a person is read back as it was added and changed`() async throws {
        var ada = person(
            "ada",
            [
                PersonMembership(.owner), PersonMembership(.sender, team: TeamID(rawValue: "TEAM123456")),
                PersonMembership(.support, team: TeamID(rawValue: "OTHERTEAM1"), device: DeviceID(7)),
            ])
        try await store.addPerson(ada)
        try await store.addPerson(person("bob"))
        #expect(try await store.people() == [ada, person("bob")])
        ada.password = try PasswordHash(of: "a long password", cost: .init(rounds: 2, blockSize: 1, parallelism: 1))
        ada.identity = ExternalIdentity(issuer: "https://id.example", subject: "1")
        ada.name = "ada2"
        ada.memberships.removeLast()
        #expect(try await store.changePerson(ada))
        #expect(try await store.person(ada.id) == ada)
        #expect(try await store.person(named: "ada2") == ada)
        #expect(try await store.person(named: "ada") == nil)
        #expect(try await store.person(ExternalIdentity(issuer: "https://id.example", subject: "1")) == ada)
        #expect(try await store.person(ExternalIdentity(issuer: "https://other.example", subject: "1")) == nil)
        #expect(try await !store.changePerson(person("nobody")))
    }

    package func `names and identities are given once`() async throws {
        var (ada, bob) = (person("ada"), person("bob"))
        ada.identity = ExternalIdentity(issuer: "i", subject: "s")
        try await store.addPerson(ada)
        try await store.addPerson(bob)
        await #expect(throws: PeopleError.nameTaken("ada")) {
            try await store.addPerson(
                Person(id: PersonID(rawValue: "other"), name: "ada", memberships: [], createdAt: now))
        }
        bob.identity = ada.identity
        await #expect(throws: PeopleError.identityTaken) { try await store.changePerson(bob) }
        #expect(try await store.person(bob.id) == person("bob"))
    }

    package func `the first person is added once`() async throws {
        #expect(try await store.addFirstPerson(person("ada")))
        #expect(try await !store.addFirstPerson(person("bob")))
        #expect(try await store.people().map(\.name) == ["ada"])
    }

    package func `an owner stays`() async throws {
        let (ada, bob) = (person("ada", [PersonMembership(.owner)]), person("bob", [PersonMembership(.owner)]))
        try await store.addPerson(ada)
        await #expect(throws: PeopleError.lastOwner) { try await store.removePerson(ada.id) }
        await #expect(throws: PeopleError.lastOwner) { try await store.changePerson(person("ada")) }
        try await store.addPerson(bob)
        #expect(try await store.removePerson(ada.id) == ada)
        #expect(try await store.removePerson(ada.id) == nil)
    }

    package func `a session lasts until it ends, or its person`() async throws {
        try await store.addPerson(person("ada"))
        try await store.addPerson(person("bob"))
        for (byte, name) in [(UInt8(1), "ada"), (2, "ada"), (3, "ada"), (4, "bob")] {
            try await store.addSession(session(byte, of: name, at: now + .seconds(Int64(byte))))
        }
        #expect(try await store.session([1]) == session(1, of: "ada", at: now + .seconds(1)))
        try await store.noteUse(ofSession: [1], at: now + .seconds(60))
        try await store.chooseTeam(TeamID(rawValue: "TEAM123456"), inSession: [1])
        let used = try await store.session([1])
        #expect(used?.usedAt == now + .seconds(60) && used?.team == TeamID(rawValue: "TEAM123456"))
        #expect(try await store.sessions(of: PersonID(rawValue: "id-ada")).map(\.hash) == [[3], [2], [1]])
        #expect(try await store.endSession([3]))
        #expect(try await !store.endSession([3]))
        try await store.endSessions(of: PersonID(rawValue: "id-ada"), except: [2])
        #expect(try await store.sessions(of: PersonID(rawValue: "id-ada")).map(\.hash) == [[2]])
        _ = try await store.removePerson(PersonID(rawValue: "id-ada"))
        #expect(try await store.session([2]) == nil)
        #expect(try await store.session([4]) != nil)
        try await store.endSessions(of: PersonID(rawValue: "id-bob"), except: nil)
        #expect(try await store.session([4]) == nil)
    }

    package func `a link is used once, and the newest is valid`() async throws {
        let first = PersonLink(hash: [1], person: nil, expiresAt: now + .seconds(600))
        let second = PersonLink(hash: [2], person: nil, expiresAt: now + .seconds(600))
        let ada = PersonLink(hash: [3], person: PersonID(rawValue: "id-ada"), expiresAt: now + .seconds(600))
        for link in [first, second, ada] { try await store.addLink(link) }
        #expect(try await store.link([1]) == nil)
        #expect(try await store.link([2]) == second)
        #expect(try await store.useLink([2]) == second)
        #expect(try await store.useLink([2]) == nil)
        #expect(try await store.link([3]) == ada)
    }

    package func `what is over is forgotten`() async throws {
        try await store.addPerson(person("ada"))
        try await store.addSession(session(1, of: "ada"))
        try await store.addSession(session(2, of: "ada", at: now + .seconds(10)))
        try await store.addLink(PersonLink(hash: [1], person: nil, expiresAt: now + .seconds(5)))
        try await store.forgetSessions(usedBefore: now + .seconds(10), now: now + .seconds(5))
        #expect(try await store.session([1]) == nil)
        #expect(try await store.session([2]) != nil)
        #expect(try await store.link([1]) == nil)
    }
}
