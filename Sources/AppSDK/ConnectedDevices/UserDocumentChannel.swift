import RelayProtocol

/// A document that this app shares with itself on the person's other devices, by its name.
public struct UserDocument: Sendable {
    /// The name, 1 to 128 bytes of UTF-8.
    public let name: String
    /// The document's content, at most 8 KiB as it is sent.
    public let content: ValueSet
    /// How often it was put or removed; it rises by one each time.
    public let revision: Int64
}

/// A document's entry in a list.
public struct UserDocumentInfo: Hashable, Sendable {
    /// The document's name.
    public let name: String
    /// The document's revision.
    public let revision: Int64
    /// How many bytes its content has as it is sent.
    public let bytes: Int64
}

/// The reason why a request about documents failed.
public enum UserDocumentError: Error, Hashable, Sendable {
    /// The document has another revision than the one named: this one, 0 for no document. Nothing was changed.
    case conflict(revision: Int64)
    /// There is no document of this name to be removed.
    case notFound
    /// A name or a content that cannot be kept, with the place and what would be right. Nothing was changed.
    case unsuitable(String)
    /// More than the account may have (1,000 documents, 4 MiB of them), or too much is asked at a time. Nothing was
    /// changed.
    case limitReached(String)
    /// The agent, or from there the server, is not reached. Nothing was changed.
    case networkNotAvailable(String)
    /// It was sent, and its outcome is unknown. Read the document before it is put again.
    case outcomeUnknown(String)
    /// The server could not keep it, or what is there does not open.
    case failure(String)

    init(_ outcome: RelayOutcome) {
        let detail = outcome.detail ?? outcome.status.rawValue
        self =
            switch outcome.status {
            case .conflict: .conflict(revision: outcome.message?.integer("revision") ?? 0)
            case .notFound: .notFound
            case .tooLarge: .unsuitable(detail)
            case .resourceLimits: .limitReached(detail)
            case .networkUnavailable: .networkNotAvailable(detail)
            case .outcomeUnknown: .outcomeUnknown(detail)
            default: .failure(detail)
            }
    }
}

/// The documents that this app shares with itself on the person's other devices, such as the page that was read last.
/// The server keeps them, sealed, while all devices are away; no other app sees them.
///
/// Guarantees: a put is durable when it returns, even if the server loses power. Of two that name the same revision one
/// is refused. Cancelling the task does not undo the request.
public final class UserDocumentChannel: Sendable {
    private let client: RelayClient
    private let watching: DocumentWatching
    private static let own = UserDocumentChannel(client: .shared)

    init(client: RelayClient) {
        self.client = client
        watching = DocumentWatching(client: client)
    }

    /// The documents of this app. They are those of the account that this device's agent belongs to.
    public static func getForAccount(_ account: ConnectedDevicesAccount = .device) -> UserDocumentChannel { own }

    /// Reads a document.
    ///
    /// - Returns: `nil` where there is no document of this name.
    /// - Throws: ``UserDocumentError``.
    public func document(named name: String) async throws(UserDocumentError) -> UserDocument? {
        do {
            return UserDocument(try await ask(.get(name: name)), named: name)
        } catch .notFound { return nil }
    }

    /// Stores a content under a name, in place of an earlier one.
    ///
    /// - Parameters:
    ///   - content: At most 8 KiB as it is sent.
    ///   - name: 1 to 128 bytes of UTF-8.
    ///   - revision: The document's expected revision; 0 for a document that must not exist yet, `nil` for any.
    /// - Returns: The new revision.
    /// - Throws: ``UserDocumentError``.
    @discardableResult public func put(
        _ content: ValueSet, as name: String, over revision: Int64? = nil
    ) async throws(UserDocumentError) -> Int64 {
        let map: RelayMap
        do {
            map = try ValueSetCoding.relay(content, limit: RelayDocument.contentLimits.bytes)
        } catch { throw .unsuitable(error.description) }
        return try await ask(.put(name: name, content: map, revision: revision)).integer("revision") ?? 0
    }

    /// Removes a document.
    ///
    /// - Parameter revision: The document's expected revision; `nil` for any.
    /// - Returns: The new revision.
    /// - Throws: ``UserDocumentError``, also where there is no document of this name.
    @discardableResult public func remove(
        named name: String, over revision: Int64? = nil
    ) async throws(UserDocumentError) -> Int64 {
        try await ask(.remove(name: name, revision: revision)).integer("revision") ?? 0
    }

    /// The documents of the channel, in the order of their last changes.
    ///
    /// - Throws: ``UserDocumentError``.
    public func documents() async throws(UserDocumentError) -> [UserDocumentInfo] {
        var found: [UserDocumentInfo] = []
        var place: Int64? = 0
        while let from = place {
            let answer = try await ask(.list(after: from))
            if case .array(let values)? = answer["documents"] { found += values.compactMap(UserDocumentInfo.init) }
            // The places rise.
            place = answer.integer("next").flatMap { $0 > from ? $0 : nil }
        }
        // A document that was changed meanwhile is listed twice.
        var names: Set<String> = []
        return found.reversed().filter { names.insert($0.name).inserted }.reversed()
    }

    /// Starts to report changes, on this device and on others: every change that is made after this has returned.
    ///
    /// - Throws: ``UserDocumentError``.
    public func changes() async throws(UserDocumentError) -> UserDocumentChanges {
        let changes = UserDocumentChanges(watching)
        _ = try await ask(.watch)
        return changes
    }

    /// The answer's message.
    private func ask(_ order: RelayDocumentOrder) async throws(UserDocumentError) -> RelayMap {
        let outcome = await client.document(order)
        guard outcome.status == .success else { throw UserDocumentError(outcome) }
        return outcome.message ?? [:]
    }
}

extension RelayClient {
    /// The outcome of a request about documents.
    func document(_ order: RelayDocumentOrder) async -> RelayOutcome {
        let passage = RequestProgress()
        let notice = await ask({ .document(request: $0, order) }, by: passage)
        if case .answered(_, _, let outcome)? = notice { return outcome }
        let mayHaveChanged =
            switch order {
            case .put, .remove: passage.hasLeft
            case .get, .list, .watch: false
            }
        return mayHaveChanged
            ? RelayOutcome(.outcomeUnknown, detail: "the connection to the agent of this device was lost")
            : RelayOutcome(.networkUnavailable, detail: "the agent of this device does not answer")
    }
}

extension UserDocument {
    init?(_ map: RelayMap, named name: String) {
        guard case .dictionary(let content)? = map["content"], let revision = map.integer("revision") else {
            return nil
        }
        self.init(name: name, content: ValueSetCoding.values(content), revision: revision)
    }
}

extension UserDocumentInfo {
    init?(_ value: RelayValue) {
        guard case .dictionary(let map) = value, case .string(let name)? = map["name"],
            let revision = map.integer("revision")
        else { return nil }
        self.init(name: name, revision: revision, bytes: map.integer("bytes") ?? 0)
    }
}

extension RelayMap {
    func integer(_ name: String) -> Int64? { if case .integer(let number)? = self[name] { number } else { nil } }
}
