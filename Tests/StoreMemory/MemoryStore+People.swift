import PushCore
import PushServer

/// The people of the console: a value.
struct PeopleTable: Sendable {
    var people: [Person] = []
    var sessions: [ConsoleSession] = []
    var links: [PersonLink] = []

    mutating func add(_ person: Person) throws(PeopleError) {
        guard !people.contains(where: { $0.name == person.name }) else { throw .nameTaken(person.name) }
        if let identity = person.identity {
            guard !people.contains(where: { $0.identity == identity }) else { throw .identityTaken }
        }
        people.append(person)
    }

    mutating func change(_ person: Person) throws(PeopleError) -> Bool {
        guard let place = people.firstIndex(where: { $0.id == person.id }) else { return false }
        try people.checkOwner(afterChangeOf: person.id, to: person)
        let before = people.remove(at: place)
        do { try add(person) } catch {
            people.append(before)
            throw error
        }
        return true
    }

    mutating func remove(_ id: PersonID) throws(PeopleError) -> Person? {
        guard let place = people.firstIndex(where: { $0.id == id }) else { return nil }
        try people.checkOwner(afterChangeOf: id, to: nil)
        sessions.removeAll { $0.person == id }
        links.removeAll { $0.person == id }
        return people.remove(at: place)
    }

    mutating func changeSession(_ hash: [UInt8], _ change: (inout ConsoleSession) -> Void) {
        for place in sessions.indices where sessions[place].hash == hash { change(&sessions[place]) }
    }
}

extension MemoryStore: PeopleStore {
    /// Everybody.
    package func people() async throws -> [Person] {
        state.withLock { $0.people.people.sorted { $0.name < $1.name } }
    }

    /// Searches all.
    package func person(_ id: PersonID) async throws -> Person? {
        state.withLock { state in state.people.people.first { $0.id == id } }
    }

    /// Searches all.
    package func person(named name: String) async throws -> Person? {
        state.withLock { state in state.people.people.first { $0.name == name } }
    }

    /// Searches all.
    package func person(_ identity: ExternalIdentity) async throws -> Person? {
        state.withLock { state in state.people.people.first { $0.identity == identity } }
    }

    /// Adds a value.
    package func addPerson(_ person: Person) async throws { try state.withLock { try $0.people.add(person) } }

    /// Adds a value to an empty list.
    package func addFirstPerson(_ person: Person) async throws -> Bool {
        try state.withLock { state in
            guard state.people.people.isEmpty else { return false }
            try state.people.add(person)
            return true
        }
    }

    /// Replaces a value.
    package func changePerson(_ person: Person) async throws -> Bool {
        try state.withLock { try $0.people.change(person) }
    }

    /// Removes a value.
    package func removePerson(_ id: PersonID) async throws -> Person? {
        try state.withLock { try $0.people.remove(id) }
    }

    /// Adds a value.
    package func addSession(_ session: ConsoleSession) async throws {
        state.withLock { $0.people.sessions.append(session) }
    }

    /// Searches all.
    package func session(_ hash: [UInt8]) async throws -> ConsoleSession? {
        state.withLock { state in state.people.sessions.first { $0.hash == hash } }
    }

    /// Searches all.
    package func sessions(of person: PersonID) async throws -> [ConsoleSession] {
        state.withLock { state in
            state.people.sessions.filter { $0.person == person }.sorted { $0.createdAt > $1.createdAt }
        }
    }

    /// Changes a value.
    package func noteUse(ofSession hash: [UInt8], at now: Timestamp) async throws {
        state.withLock { $0.people.changeSession(hash) { $0.usedAt = now } }
    }

    /// Changes a value.
    package func chooseTeam(_ team: TeamID?, inSession hash: [UInt8]) async throws {
        state.withLock { $0.people.changeSession(hash) { $0.team = team } }
    }

    /// Removes a value.
    package func endSession(_ hash: [UInt8]) async throws -> Bool {
        state.withLock { state in
            let count = state.people.sessions.count
            state.people.sessions.removeAll { $0.hash == hash }
            return state.people.sessions.count < count
        }
    }

    /// Removes values.
    package func endSessions(of person: PersonID, except hash: [UInt8]?) async throws {
        state.withLock { $0.people.sessions.removeAll { $0.person == person && $0.hash != hash } }
    }

    /// Adds a value in the place of earlier ones.
    package func addLink(_ link: PersonLink) async throws {
        state.withLock { state in
            state.people.links.removeAll { $0.person == link.person }
            state.people.links.append(link)
        }
    }

    /// Searches all.
    package func link(_ hash: [UInt8]) async throws -> PersonLink? {
        state.withLock { state in state.people.links.first { $0.hash == hash } }
    }

    /// Removes a value.
    package func useLink(_ hash: [UInt8]) async throws -> PersonLink? {
        state.withLock { state in
            guard let place = state.people.links.firstIndex(where: { $0.hash == hash }) else { return nil }
            return state.people.links.remove(at: place)
        }
    }

    /// Removes values by their times.
    package func forgetSessions(usedBefore: Timestamp, now: Timestamp) async throws {
        state.withLock { state in
            state.people.sessions.removeAll { $0.usedAt < usedBefore }
            state.people.links.removeAll { $0.expiresAt <= now }
        }
    }
}
