import HubProtocol
import HubServer
import PushCore
import PushServer
import Synchronization

/// A store beside which the power goes off at one write: before it, or behind it.
final class DyingStore: HubStore {
    struct Dead: Error {}

    private let store: HubDatabase
    private let isBefore: Bool
    private let left: Mutex<Int>
    private let dead = Mutex(false)
    private let pages = Mutex<[Int]>([])

    init(_ store: HubDatabase, atWrite number: Int, isBefore: Bool) {
        self.store = store
        self.isBefore = isBefore
        left = Mutex(number)
    }

    var isDead: Bool { dead.withLock { $0 } }
    /// How many installations were asked for, each time.
    var pagesRead: [Int] { pages.withLock { $0 } }

    private func write<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        guard !isDead else { throw Dead() }
        let isLast = left.withLock { left in
            left -= 1
            return left == 0
        }
        guard isLast else { return try await body() }
        dead.withLock { $0 = true }
        if !isBefore { _ = try await body() }
        throw Dead()
    }

    // MARK: Writes of sends

    func addSend(
        id: String, hub: Int64, _ request: SendRequest, state: SendState, at now: Timestamp
    ) async throws -> SendRecord? {
        try await write { try await store.addSend(id: id, hub: hub, request, state: state, at: now) }
    }
    func addTest(
        id: String, hub: Int64, _ request: SendRequest, audience: Bitmap, resumesAt: Timestamp, at now: Timestamp
    ) async throws -> (record: SendRecord, isNew: Bool)? {
        try await write {
            try await store.addTest(id: id, hub: hub, request, audience: audience, resumesAt: resumesAt, at: now)
        }
    }
    func setState(
        _ state: SendState, of send: Int64, from states: [SendState], at now: Timestamp
    ) async throws -> SendRecord? {
        try await write { try await store.setState(state, of: send, from: states, at: now) }
    }
    func begin(
        _ send: Int64, audience: Bitmap, targeted: Int, waves: WaveChange?, parts: [SendPartDraft], at now: Timestamp
    ) async throws {
        try await write {
            try await store.begin(send, audience: audience, targeted: targeted, waves: waves, parts: parts, at: now)
        }
    }
    func open(
        _ wave: SendWave, audience: Bitmap, _ change: WaveChange, parts: [SendPartDraft], at now: Timestamp
    ) async throws {
        try await write { try await store.open(wave, audience: audience, change, parts: parts, at: now) }
    }
    func setBroadcast(_ broadcast: AcceptedBroadcast, of part: SendPart) async throws {
        try await write { try await store.setBroadcast(broadcast, of: part) }
    }
    func divide(_ part: SendPart, leaving rest: Bitmap) async throws {
        try await write { try await store.divide(part, leaving: rest) }
    }
    func drop(_ part: SendPart) async throws { try await write { try await store.drop(part) } }
    func noteWithdrawn(_ part: SendPart, at now: Timestamp) async throws {
        try await write { try await store.noteWithdrawn(part, at: now) }
    }
    func storeRecipients(_ recipients: [SendRecipient], of part: SendPart, upTo copy: NotificationID) async throws {
        try await write { try await store.storeRecipients(recipients, of: part, upTo: copy) }
    }
    func matchDeletedRecipients(_ count: Int, of part: SendPart) async throws {
        try await write { try await store.matchDeletedRecipients(count, of: part) }
    }
    func endWaves(ofSend send: Int64, at now: Timestamp) async throws -> Bool {
        try await write { try await store.endWaves(ofSend: send, at: now) }
    }
    func updateRecipients(_ recipients: [SendRecipient], of send: Int64, lookedUpAt now: Timestamp) async throws {
        try await write { try await store.updateRecipients(recipients, of: send, lookedUpAt: now) }
    }
    func rest(_ send: Int64, until instant: Timestamp) async throws {
        try await write { try await store.rest(send, until: instant) }
    }
    func abandon(_ send: Int64, reason: String, at now: Timestamp) async throws {
        try await write { try await store.abandon(send, reason: reason, at: now) }
    }
    func advance(_ send: Int64, hub: Int64, _ progress: SendProgress, committed: @escaping Committed) async throws {
        try await write { try await store.advance(send, hub: hub, progress, committed: committed) }
    }

    // MARK: Everything else

    func hub(named name: String) async throws -> HubRecord? { try await store.hub(named: name) }
    func hubs() async throws -> [HubRecord] { try await store.hubs() }
    func keys(of hub: Int64) async throws -> [HubKey] { try await store.keys(of: hub) }
    func backendKey(hash: [UInt8]) async throws -> (HubRecord, String)? { try await store.backendKey(hash: hash) }
    var isShared: Bool { store.isShared }
    func claim(_ claim: SQLClaim) async throws -> Bool { try await store.claim(claim) }
    func release(_ claim: SQLClaim) async { await store.release(claim) }
    func claims(_ kind: SQLClaim.Kind) async throws -> [SQLClaim] { try await store.claims(kind) }
    func audience(
        of hub: Int64, _ body: @escaping @Sendable (AudienceEntry) -> Void
    ) async throws -> (generation: Int64, version: Int64) {
        pages.withLock { $0.append(.max) }
        return try await store.audience(of: hub, body)
    }
    func audienceCommits(of hub: Int64, after version: Int64, limit: Int) async throws -> [AudienceCommit] {
        try await store.audienceCommits(of: hub, after: version, limit: limit)
    }
    func readCommits(of hub: Int64, after version: Int64, limit: Int) throws -> [AudienceCommit] {
        try store.readCommits(of: hub, after: version, limit: limit)
    }
    func put(
        _ installation: HubProtocol.Installation, hub: Int64, condition: EntityCondition, registersChannel: Bool,
        at now: Timestamp, admission: @escaping Admission, committed: @escaping Committed
    ) async throws -> (StoredInstallation, isNew: Bool)? {
        try await store.put(
            installation, hub: hub, condition: condition, registersChannel: registersChannel, at: now,
            admission: admission, committed: committed)
    }
    func installation(_ id: String, hub: Int64) async throws -> StoredInstallation? {
        try await store.installation(id, hub: hub)
    }
    func delete(
        _ id: String, hub: Int64, condition: EntityCondition, committed: @escaping Committed
    ) async throws -> Bool? {
        try await store.delete(id, hub: hub, condition: condition, committed: committed)
    }
    func erase(_ id: String, hub: Int64, committed: @escaping Committed) async throws -> Int? {
        try await write { try await store.erase(id, hub: hub, committed: committed) }
    }
    func retire(
        _ installations: [StoredInstallation], hub: Int64, at now: Timestamp, committed: @escaping Committed
    ) async throws {
        try await write { try await store.retire(installations, hub: hub, at: now, committed: committed) }
    }
    func recipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)] {
        try await store.recipients(for: installation)
    }
    func events(of hub: Int64, about installation: String) async throws -> [HubEvent] {
        try await store.events(of: hub, about: installation)
    }
    func openRecipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)] {
        try await store.openRecipients(for: installation)
    }
    func openParts(with installation: UInt32, hub: Int64, at now: Timestamp) async throws -> [SendPart] {
        try await store.openParts(with: installation, hub: hub, at: now)
    }
    func installations(_ numbers: [UInt32], hub: Int64) async throws -> [StoredInstallation] {
        pages.withLock { $0.append(numbers.count) }
        return try await store.installations(numbers, hub: hub)
    }
    func installations(
        hub: Int64, after number: UInt32, isDead: Bool?, limit: Int
    ) async throws -> [StoredInstallation] {
        try await store.installations(hub: hub, after: number, isDead: isDead, limit: limit)
    }
    func installations(hub: Int64, channel: String) async throws -> [StoredInstallation] {
        try await store.installations(hub: hub, channel: channel)
    }
    func earlierOwners(
        of registrations: [StoredInstallation], hub: Int64, at now: Timestamp
    ) async throws -> [UInt32: [UInt32]] {
        try await store.earlierOwners(of: registrations, hub: hub, at: now)
    }

    func numbers(ofUser user: String, hub: Int64) async throws -> [UInt32] {
        try await store.numbers(ofUser: user, hub: hub)
    }
    func deleteExpired(before instant: Timestamp, limit: Int, committed: @escaping Committed) async throws -> Bool {
        try await store.deleteExpired(before: instant, limit: limit, committed: committed)
    }
    func send(ofKey key: String, hub: Int64) async throws -> SendRecord? {
        try await store.send(ofKey: key, hub: hub)
    }
    func send(_ id: String, hub: Int64) async throws -> SendRecord? { try await store.send(id, hub: hub) }
    func sends(
        hub: Int64, before number: Int64, states: [SendState]?, campaigns: Bool, limit: Int
    ) async throws -> [SendRecord] {
        try await store.sends(hub: hub, before: number, states: states, campaigns: campaigns, limit: limit)
    }
    func runnableSends(at now: Timestamp) async throws -> [RunnableSend] {
        try await store.runnableSends(at: now)
    }
    func runnableSend(_ number: Int64, at now: Timestamp) async throws -> SendRecord? {
        try await store.runnableSend(number, at: now)
    }
    func sends(_ numbers: [Int64]) async throws -> [SendRecord] { try await store.sends(numbers) }
    func deleteSends(endedBefore instant: Timestamp, limit: Int) async throws -> Bool {
        try await store.deleteSends(endedBefore: instant, limit: limit)
    }
    func nextDue(after now: Timestamp) async throws -> Timestamp? { try await store.nextDue(after: now) }
    func audience(ofSend send: Int64) async throws -> Bitmap { try await store.audience(ofSend: send) }
    func nextWave(ofSend send: Int64) async throws -> SendWave? { try await store.nextWave(ofSend: send) }
    func audienceOfWaves(ofSend send: Int64) async throws -> Bitmap {
        try await store.audienceOfWaves(ofSend: send)
    }
    func audience(of wave: SendWave) async throws -> Bitmap { try await store.audience(of: wave) }
    func reached(hub: Int64, since instant: Timestamp, but send: Int64) async throws -> CampaignReach {
        try await store.reached(hub: hub, since: instant, but: send)
    }
    func markSeen(_ tokens: [String], at now: Timestamp, committed: @escaping Committed) async throws {
        try await write { try await store.markSeen(tokens, at: now, committed: committed) }
    }
    func leftOut(of send: Int64) async throws -> [ExclusionReason: Int] { try await store.leftOut(of: send) }
    func audiencesLeftOut(ofSend send: Int64) async throws -> [ExclusionReason: Bitmap] {
        try await store.audiencesLeftOut(ofSend: send)
    }
    func variants(of send: Int64) async throws -> [String: Int] { try await store.variants(of: send) }
    func credentials(of hub: Int64) async throws -> [PushCredential] { try await store.credentials(of: hub) }
    func environmentEvidence(of send: Int64) async throws -> EnvironmentEvidence {
        try await store.environmentEvidence(of: send)
    }
    func dueRetries(of send: Int64, at now: Timestamp, limit: Int) async throws -> [SendRecipient] {
        try await store.dueRetries(of: send, at: now, limit: limit)
    }
    func recipients(
        of send: Int64, after place: (installation: UInt32, part: String)?, limit: Int
    ) async throws -> [SendRecipient] {
        try await store.recipients(of: send, after: place, limit: limit)
    }
    func openRecipients(
        of send: Int64, lookedUpBefore instant: Timestamp, limit: Int
    ) async throws -> [SendRecipient] {
        try await store.openRecipients(of: send, lookedUpBefore: instant, limit: limit)
    }
    func nextPart(ofSend send: Int64) async throws -> SendPart? { try await store.nextPart(ofSend: send) }
    func parts(ofSend send: Int64) async throws -> [SendPart] { try await store.parts(ofSend: send) }
    func remaining(of part: SendPart) async throws -> Bitmap { try await store.remaining(of: part) }
    func audience(of part: SendPart) async throws -> Bitmap { try await store.audience(of: part) }
    func owners(_ tokens: [String], hub: Int64) async throws -> [String: StoredInstallation] {
        try await store.owners(tokens, hub: hub)
    }
    func openLists(_ parts: [Int64]) throws -> [Int64: BroadcastMembers] { try store.openLists(parts) }
    func tokenOwners(_ registrations: [[String]], hub: Int64) throws -> [[TokenOwner]] {
        try store.tokenOwners(registrations, hub: hub)
    }
    func recipientCounts(
        of send: Int64
    ) async throws -> (counts: [RecipientCount], installations: Int, byPart: [Int64: PartRows]) {
        try await store.recipientCounts(of: send)
    }
    func installationsWithRow(ofSend send: Int64) async throws -> Bitmap {
        try await store.installationsWithRow(ofSend: send)
    }
    func apiKey(hash: [UInt8]) async throws -> HubAPIKey? { try await store.apiKey(hash: hash) }
    func webhooks() async throws -> [HubWebhook] { try await store.webhooks() }
    func setWebhook(_ webhook: HubWebhook?, of hub: Int64) async throws {
        try await store.setWebhook(webhook, of: hub)
    }
    func events(of hub: Int64, limit: Int) async throws -> [HubEvent] { try await store.events(of: hub, limit: limit) }
    func runningCampaigns(begunBefore instant: Timestamp, limit: Int) async throws -> [(hub: Int64, id: String)] {
        try await store.runningCampaigns(begunBefore: instant, limit: limit)
    }
    func endEvent(_ number: Int64) async throws { try await store.endEvent(number) }
    func deleteEvents(before instant: Timestamp, most: Int) async throws -> (expired: Int, full: Int) {
        try await store.deleteEvents(before: instant, most: most)
    }
    func outcomes(of send: Int64) async throws -> [OutcomeCount] { try await store.outcomes(of: send) }
    func faults(of send: Int64, after number: Int64, limit: Int) async throws -> [SendFault] {
        try await store.faults(of: send, after: number, limit: limit)
    }
}
