import HubProtocol
import PushCore
import Scheduling
import Synchronization

/// The hubs of a server: installations, audiences and sends.
package final class NotificationHubs: Sendable {
    /// The durable store.
    package let store: any HubStore
    /// The senders by platform.
    let senders: [HubPlatform: any PushSender]
    let clock: @Sendable () -> Timestamp
    let random: @Sendable () -> UInt64
    /// Finds time zones by their names.
    package let zones: Zones
    /// Submits one notification for many of this server's own devices; `nil` where each is submitted separately.
    let gateway: GatewayBroadcasts?
    /// Receives each change of installations before the request is answered.
    private let changed: @Sendable ([AudienceChange]) -> Void
    /// The fewest installations with one payload, on this server's own devices, that become a broadcast part.
    let broadcastMinimum: Int
    /// The audiences of the hubs that were read, by hub number.
    private let audiences = Mutex<[Int64: HubAudience]>([:])
    /// Wakes the runner of the sends.
    let wakeUps: AsyncStream<Void>.Continuation
    let wakeUpStream: AsyncStream<Void>
    /// Wakes the runner when the next scheduled send is due.
    let alarm = Alarm()
    /// Serializes the division of campaigns, by hub.
    let mutexes = PerHubMutex()
    /// Serializes the reading of audiences, by hub.
    private let readings = PerHubMutex()
    /// The slices under way, each from its reading of installations until its outcome is recorded.
    let slices = ActiveSlices()

    /// Creates the hubs of a server. Their sends begin when ``run()`` runs.
    ///
    /// - Parameters:
    ///   - senders: The push services by platform; sends for other platforms have the outcome `InvalidCredentials`.
    ///   - gateway: Submits one notification for many of this server's own devices.
    ///   - changed: Receives each change of installations before the request is answered.
    ///   - broadcastMinimum: The fewest installations with one payload that become a broadcast part.
    ///   - zones: The rules of the recipients' time zones; by default UTC alone.
    package init(
        store: any HubStore, senders: [HubPlatform: any PushSender], gateway: GatewayBroadcasts? = nil,
        changed: @escaping @Sendable ([AudienceChange]) -> Void = { _ in },
        broadcastMinimum: Int = defaultBroadcastMinimum, clock: @escaping @Sendable () -> Timestamp,
        random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) },
        zones: @escaping Zones = { $0 == "UTC" ? .utc : nil }
    ) {
        self.store = store
        self.senders = senders
        self.clock = clock
        self.random = random
        self.zones = zones
        self.gateway = gateway
        self.changed = changed
        self.broadcastMinimum = max(1, broadcastMinimum)
        (wakeUpStream, wakeUps) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The size of one slice: below it, slices cost less than looking at every connected device.
    package static let defaultBroadcastMinimum = 512

    /// The present time.
    package var now: Timestamp { clock() }

    /// Applies commits to the audiences in memory. A hub that was not read yet, or whose copy lacks a commit, is read from the
    /// store later.
    var committed: HubStore.Committed {
        { [self] commits in
            changed(commits.flatMap(\.changes))
            audiences.withLock { audiences in
                for commit in commits { audiences[commit.hub]?.apply(commit) }
            }
        }
    }

    /// The quota of what audiences ask that a put would pass.
    ///
    /// - Throws: ``AudienceChangedError`` where that depends on commits that the copy in memory does not have.
    func excess(of put: InstallationWrite, _ hub: HubRecord) throws(AudienceChangedError) -> HubQuota? {
        guard let entry = put.after.entry else { return nil }
        // A copy that leaves the lock would be copied whole by the next change.
        let (isBehind, excess) = audiences.withLock { audiences in
            guard let audience = audiences[hub.number] else { return (false, nil as HubQuota?) }
            let missing = Int(put.version - audience.version)
            guard missing > 0 else {
                let excess = audience.index.excess(
                    replacing: put.before?.entry, with: entry, mostTags: hub.limits.tags)
                return (false, excess.map { .values($0.property, $0.most) })
            }
            return (!audience.index.hasRoom(forChanges: missing + 1, mostTags: hub.limits.tags), nil)
        }
        guard !isBehind else { throw AudienceChangedError() }
        return excess
    }

    /// The commits that are read at once.
    private static let commitPage = 500

    /// Brings the audience of a hub in memory up to the version of the record. Concurrent callers wait for the reading under way.
    ///
    /// Commits of other servers are read from the store's log. All installations are read the first time, after an
    /// import, and where the log does not go back far enough.
    package func prepare(_ hub: HubRecord) async throws {
        guard isBehind(hub) else { return }
        try await readings.pass(hub.number) { [self] in
            guard isBehind(hub), try await !follow(hub) else { return }
            let reading = Mutex(AudienceIndex())
            let (generation, version) = try await store.audience(of: hub.number) { entry in
                reading.withLock { $0.insert(entry) }
            }
            let index = reading.withLock { index in
                defer { index = AudienceIndex() }
                return index
            }
            audiences.withLock {
                $0[hub.number] = HubAudience(generation: generation, version: version, index: index)
            }
            // Commits during the reading were applied to the copy before.
            _ = try await follow(hub, beyondRecord: true)
        }
    }

    private func isBehind(_ hub: HubRecord) -> Bool {
        audiences.withLock { $0[hub.number]?.isBehind(hub) ?? true }
    }

    /// The version of the copy in memory; `nil` where there is none of the record's generation.
    private func version(of hub: HubRecord) -> Int64? {
        audiences.withLock { audiences in
            guard let known = audiences[hub.number], known.generation >= hub.generation else { return nil }
            return known.version
        }
    }

    /// Applies the commits of the store's log.
    ///
    /// - Parameter beyondRecord: Whether those after the record's version are read too.
    /// - Returns: Whether the copy has the record's version then.
    private func follow(_ hub: HubRecord, beyondRecord: Bool = false) async throws -> Bool {
        while let version = version(of: hub) {
            if version >= hub.version, !beyondRecord { return true }
            let commits = try await store.audienceCommits(of: hub.number, after: version, limit: Self.commitPage)
            guard !commits.isEmpty else { return version >= hub.version }
            changed(commits.flatMap(\.changes))
            let isComplete = audiences.withLock { audiences in
                commits.allSatisfy { audiences[hub.number]?.apply($0) ?? false }
            }
            guard isComplete else { return false }
            if commits.count < Self.commitPage, beyondRecord { return true }
        }
        return false
    }

    /// A snapshot of the installations that match an expression now.
    ///
    /// - Throws: ``HubError`` for an expression that cannot be read, and the store's errors.
    package func audience(
        _ text: String?, of hub: HubRecord, for format: SendFormat?, readsFields: Bool
    ) async throws -> Bitmap {
        let expression = try expression(text, of: hub, readsFields: readsFields)
        try await prepare(hub)
        var found: [TagExpression: Bitmap] = [:]
        if let expression { try await find(expression, in: hub, found: &found) }
        let now = clock()
        guard let index = audiences.withLock({ $0[hub.number]?.index.part(for: expression) }) else { return Bitmap() }
        guard let format else { return index.audience(expression, now: now, found: found) }
        guard format != .template else {
            return index.audience(expression, countsTemplates: true, now: now, found: found)
        }
        let platforms = HubPlatform.allCases.filter(format.isNative)
            .reduce(Bitmap()) { $0.union(index.installations(of: $1)) }
        return index.audience(expression, now: now, found: found).intersection(platforms)
    }

    private func divisions(of hub: HubRecord) async throws -> AudienceIndex {
        try await prepare(hub)
        return audiences.withLock { $0[hub.number]?.index.divisions } ?? AudienceIndex()
    }

    /// The index of a hub's reachable installations, from which reports count traits.
    func traits(of hub: HubRecord) async throws -> AudienceIndex {
        try await prepare(hub)
        return audiences.withLock { $0[hub.number]?.index.traits } ?? AudienceIndex()
    }

    /// The installations of a hub on this server's own devices.
    ///
    /// - Parameter alone: Whether installations are left out whose channel others may share.
    func ownDevices(of hub: HubRecord, alone: Bool = false) async throws -> Bitmap {
        try await prepare(hub)
        guard let index = audiences.withLock({ $0[hub.number]?.index.part(for: nil) }) else { return Bitmap() }
        let own = index.installations(of: .aldaba)
        return alone ? own.subtracting(index.registrations) : own
    }

    /// Parts of an audience by the time zones that installations name now.
    func byZone(_ audience: Bitmap, of hub: HubRecord) async throws -> [(zone: String?, Bitmap)] {
        try await divisions(of: hub).byZone(audience)
    }

    /// The division of an audience by the languages of its installations.
    func byLocale(_ audience: Bitmap, of hub: HubRecord) async throws -> [(locale: String?, Bitmap)] {
        try await divisions(of: hub).byLocale(audience)
    }

    /// The division of an audience by the variants of an experiment, in their order.
    func byVariant(
        _ audience: Bitmap, _ experiment: CampaignExperiment, campaign: PersonNumber, of hub: HubRecord
    ) async throws -> [Bitmap] {
        try await divisions(of: hub).byVariant(audience, experiment, campaign: campaign)
    }

    /// The members of an audience in an experiment's hold-out group, which receives nothing.
    func heldOut(
        _ audience: Bitmap, _ experiment: CampaignExperiment, campaign: PersonNumber, of hub: HubRecord
    ) async throws -> Bitmap {
        try await divisions(of: hub).heldOut(audience, experiment, campaign: campaign)
    }

    /// How many installations a hub has that can be reached, how many bytes its audiences take, and how many distinct tags there
    /// are in them.
    package func size(of hub: HubRecord) async throws -> (installations: Int, memory: Int, tags: Int) {
        try await prepare(hub)
        return audiences.withLock { audiences in
            let index = audiences[hub.number]?.index
            return (index?.count ?? 0, index?.memory ?? 0, index?.valueCount(of: .tag) ?? 0)
        }
    }

    /// Parses an expression within the limits of a hub; `nil` for all installations.
    package func expression(
        _ text: String?, of hub: HubRecord, readsFields: Bool
    ) throws(HubError) -> TagExpression? {
        guard let text, !text.allSatisfy({ $0 == " " }) else { return nil }
        var limits = hub.isStrict ? TagExpression.Limits.azure : TagExpression.Limits()
        limits.readsFields = readsFields
        do { return try TagExpression(text, limits: limits) } catch { throw .expression(error) }
    }

    private func find(_ expression: TagExpression, in hub: HubRecord, found: inout [TagExpression: Bitmap])
        async throws
    {
        switch expression {
        case .installation(let id):
            let stored = try await store.installation(id, hub: hub.number)
            found[expression] = Bitmap(stored.map { [$0.number] } ?? [])
        case .user(let user): found[expression] = Bitmap(try await store.numbers(ofUser: user, hub: hub.number))
        case .not(let part): try await find(part, in: hub, found: &found)
        case .all(let parts), .any(let parts): for part in parts { try await find(part, in: hub, found: &found) }
        case .tag, .field: break
        }
    }

    /// 32 random hexadecimal digits.
    func freshID() -> String {
        [random(), random()].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// The reason why a hub refused a request.
package enum HubError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The expression cannot be read.
    case expression(TagExpression.Fault)
    /// A document or a field cannot be read.
    case document(InstallationError)
    /// There is no entity of that name.
    case missing(String)
    /// The condition of the request does not hold.
    case conditionFailed
    /// The idempotency key names another request.
    case keyReused
    /// The request is not possible in the present state.
    case conflict(String)
    /// A quota of the hub's would be passed.
    case quota(HubQuota)

    package var description: String {
        switch self {
        case .expression(let fault): "the tag expression cannot be read: \(fault)"
        case .document(let fault): fault.path.isEmpty ? fault.message : "\(fault)"
        case .missing(let what): "\(what) does not exist"
        case .conditionFailed: "it was changed meanwhile, or is not there: the condition of the request does not hold"
        case .keyReused: "the idempotency key was used for another request"
        case .conflict(let what): what
        case .quota(let quota): "\(quota)"
        }
    }
}

/// Checks of requests on arrival, for faults that would otherwise make them fail silently later.
extension NotificationHubs {
    /// Refuses an installation's unusable values.
    func validate(_ installation: Installation) throws(InstallationError) {
        try InstallationValidator.check(installation) { zones($0) != nil }
    }

    /// Refuses such values where a document changes them; earlier values stay as they are.
    func validate(
        _ changed: JSONValue, insteadOf document: JSONValue, id: String
    ) throws(InstallationError) {
        let before = try InstallationJSON.read(document, id: id)
        try InstallationValidator.check(try InstallationJSON.read(changed, id: id), insteadOf: before) {
            zones($0) != nil
        }
    }

    /// The maximum age of the instant of a send, in milliseconds: a minute, for clocks that differ.
    static let instantTolerance: Int64 = 60_000

    /// Refuses an instant that has passed, since the send would begin now. A repetition of an accepted request is not
    /// checked again.
    ///
    /// - Parameter place: The place of the instant in the request.
    func checkInstant(of request: SendRequest, _ hub: HubRecord, at place: String) async throws {
        guard let dueAt = request.dueAt, request.plan.local == nil,
            now.milliseconds(since: dueAt) > Self.instantTolerance
        else { return }
        if let key = request.idempotencyKey, try await store.send(ofKey: key, hub: hub.number) != nil { return }
        throw HubError.document(
            InstallationError(
                place, "\(WireTime.write(dueAt)) is over; name a later instant, or none to send at once"))
    }
}
