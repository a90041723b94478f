import PushCore

/// The people of the console, their sessions and their links.
package protocol PeopleStore: Sendable {
    /// Everybody, by name.
    func people() async throws -> [Person]

    /// The person with an id.
    func person(_ id: PersonID) async throws -> Person?

    /// The person with a name.
    func person(named name: String) async throws -> Person?

    /// The person with an identity at an OpenID provider.
    func person(_ identity: ExternalIdentity) async throws -> Person?

    /// Adds a person.
    ///
    /// - Throws: ``PeopleError``.
    func addPerson(_ person: Person) async throws

    /// Adds the first person, where there is none; whether it was added.
    func addFirstPerson(_ person: Person) async throws -> Bool

    /// Replaces a person by another value with the same id; `false` where there is none.
    ///
    /// - Throws: ``PeopleError``.
    func changePerson(_ person: Person) async throws -> Bool

    /// Removes a person with its sessions and links; the person that was removed.
    ///
    /// - Throws: ``PeopleError``.
    func removePerson(_ id: PersonID) async throws -> Person?

    /// Adds a session.
    func addSession(_ session: ConsoleSession) async throws

    /// The session with a hash.
    func session(_ hash: [UInt8]) async throws -> ConsoleSession?

    /// The sessions of a person, the newest first.
    func sessions(of person: PersonID) async throws -> [ConsoleSession]

    /// Stores the time of a request.
    func noteUse(ofSession hash: [UInt8], at now: Timestamp) async throws

    /// Stores the team in which a session acts.
    func chooseTeam(_ team: TeamID?, inSession hash: [UInt8]) async throws

    /// Ends a session; whether it was there.
    func endSession(_ hash: [UInt8]) async throws -> Bool

    /// Ends the sessions of a person, but for one.
    func endSessions(of person: PersonID, except hash: [UInt8]?) async throws

    /// Adds a link; earlier links of the same person end.
    func addLink(_ link: PersonLink) async throws

    /// The link with a hash.
    func link(_ hash: [UInt8]) async throws -> PersonLink?

    /// Ends a link, and returns it where it was still there.
    func useLink(_ hash: [UInt8]) async throws -> PersonLink?

    /// Deletes the sessions that were last used before a time, and the links that have expired.
    func forgetSessions(usedBefore: Timestamp, now: Timestamp) async throws
}

extension [Person] {
    /// Checks that a person stays owner of all teams, as long as one was.
    ///
    /// - Parameters:
    ///   - person: The value after the change; `nil` for a person who is removed.
    /// - Throws: ``PeopleError/lastOwner``.
    package func checkOwner(afterChangeOf id: PersonID, to person: Person?) throws(PeopleError) {
        guard first(where: { $0.id == id })?.isOwner == true, person?.isOwner != true else { return }
        guard contains(where: { $0.id != id && $0.isOwner }) else { throw .lastOwner }
    }
}
