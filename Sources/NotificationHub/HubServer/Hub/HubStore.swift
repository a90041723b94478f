import HubProtocol
import PushCore
import PushServer

/// Durable storage of hubs, their keys, installations and sends; the port that a store implements.
///
/// Every write is one transaction, and is on the disk when it returns. `committed` is called after the commit: in the order of
/// the commits where the store has one server, and else with numbers that tell the order.
package protocol HubStore: Sendable {
    /// Receives the changes to audiences that a commit made.
    typealias Committed = @Sendable ([AudienceCommit]) -> Void
    /// Judges a put in its transaction; what it throws ends the put.
    typealias Admission = @Sendable (InstallationWrite) throws -> Void

    /// The hub of that name, compared without case.
    func hub(named name: String) async throws -> HubRecord?
    /// Every hub, by name.
    func hubs() async throws -> [HubRecord]
    /// The keys of a hub, by name.
    func keys(of hub: Int64) async throws -> [HubKey]
    /// The credentials for other push services of a hub, by number.
    func credentials(of hub: Int64) async throws -> [PushCredential]
    /// The key of the hub's own API with this SHA-256.
    func apiKey(hash: [UInt8]) async throws -> HubAPIKey?
    /// The webhooks of all hubs, by the hubs' numbers.
    func webhooks() async throws -> [HubWebhook]
    /// Sets the address for a hub's events; `nil` removes it and deletes the queued events.
    func setWebhook(_ webhook: HubWebhook?, of hub: Int64) async throws
    /// The queued events of a hub, in their order.
    func events(of hub: Int64, limit: Int) async throws -> [HubEvent]
    /// Deletes an event that the receiver accepted.
    func endEvent(_ number: Int64) async throws
    /// Ends events of before an instant, and where more than `most` are left, the oldest of the hubs that have the most.
    ///
    /// - Returns: How many were too old, and how many too many.
    func deleteEvents(before instant: Timestamp, most: Int) async throws -> (expired: Int, full: Int)
    /// The campaigns that began before an instant and have not ended, of hubs that have a webhook, newest first.
    ///
    /// - Parameter limit: The maximum number for each hub.
    func runningCampaigns(begunBefore instant: Timestamp, limit: Int) async throws -> [(hub: Int64, id: String)]
    /// The hub and the name of the backend key with this SHA-256.
    func backendKey(hash: [UInt8]) async throws -> (HubRecord, String)?

    /// Whether other servers use the store too.
    var isShared: Bool { get }
    /// Takes the right to do some work that one server at a time does. It ends with the process, or without notice where the server
    /// loses the database or stands still.
    ///
    /// - Returns: Whether no other server has it.
    func claim(_ claim: SQLClaim) async throws -> Bool
    /// Gives back what ``claim(_:)`` took.
    func release(_ claim: SQLClaim) async
    /// The claims of a kind that servers have now.
    func claims(_ kind: SQLClaim.Kind) async throws -> [SQLClaim]

    /// Reads every installation that can be reached, as of one moment.
    ///
    /// - Returns: The generation of the hub's installations, and the version of its audience.
    func audience(
        of hub: Int64, _ body: @escaping @Sendable (AudienceEntry) -> Void
    ) async throws -> (generation: Int64, version: Int64)
    /// The commits after a version of a hub's audience, in their order. Old ones are not kept.
    func audienceCommits(of hub: Int64, after version: Int64, limit: Int) async throws -> [AudienceCommit]
    /// The same commits. Blocks.
    func readCommits(of hub: Int64, after version: Int64, limit: Int) throws -> [AudienceCommit]

    /// Stores an installation in place of an earlier one with the same id.
    ///
    /// - Parameter registersChannel: Whether its channel counts as registered now: then it lives, and another installation that has
    ///   it loses it. Else the channel stays as it is: dead, or another's, or registered when it was.
    /// - Parameter admission: Judges the put where its condition holds.
    /// - Returns: The installation, and whether it is new; `nil` where the condition does not hold.
    func put(
        _ installation: HubProtocol.Installation, hub: Int64, condition: EntityCondition, registersChannel: Bool,
        at now: Timestamp, admission: @escaping Admission, committed: @escaping Committed
    ) async throws -> (StoredInstallation, isNew: Bool)?
    /// Reads an installation; its id is compared without case.
    func installation(_ id: String, hub: Int64) async throws -> StoredInstallation?
    /// Deletes an installation; `nil` where there is none, `false` where the condition does not hold.
    func delete(
        _ id: String, hub: Int64, condition: EntityCondition, committed: @escaping Committed
    ) async throws -> Bool?
    /// Takes installations out of every audience and list before they are erased: nothing is sent to them from now on.
    /// They keep their channels, by which copies of broadcasts are found.
    func retire(_ installations: [StoredInstallation], hub: Int64, at now: Timestamp, committed: @escaping Committed)
        async throws
    /// Deletes an installation and the events that name it, and ends the open report rows of its notifications.
    ///
    /// - Returns: The number of events; `nil` where there is no installation.
    func erase(_ id: String, hub: Int64, committed: @escaping Committed) async throws -> Int?
    /// The rows of an installation that were queued for its device, or shown on it, at the last look-up, with the
    /// sends' numbers.
    func openRecipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)]
    /// Every row of an installation, with the sends' numbers.
    func recipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)]
    /// The queued events that name an installation, in their order.
    func events(of hub: Int64, about installation: String) async throws -> [HubEvent]
    /// The parts that contain an installation and make copies now.
    func openParts(with installation: UInt32, hub: Int64, at now: Timestamp) async throws -> [SendPart]
    /// Reads installations by number; deleted ones are left out.
    func installations(_ numbers: [UInt32], hub: Int64) async throws -> [StoredInstallation]
    /// The installations after a number, rising.
    func installations(
        hub: Int64, after number: UInt32, isDead: Bool?, limit: Int
    ) async throws -> [StoredInstallation]
    /// The installations of a channel.
    func installations(hub: Int64, channel: String) async throws -> [StoredInstallation]
    /// The members with the same channel that come before some registrations, by the registrations' numbers: an
    /// installation, or a registration with a smaller number that takes native notifications. Registrations with no
    /// such member are left out.
    func earlierOwners(
        of registrations: [StoredInstallation], hub: Int64, at now: Timestamp
    ) async throws -> [UInt32: [UInt32]]
    /// The numbers of a user's installations, the id compared without case.
    func numbers(ofUser user: String, hub: Int64) async throws -> [UInt32]
    /// Deletes up to `limit` expired installations; returns whether there are more.
    func deleteExpired(before instant: Timestamp, limit: Int, committed: @escaping Committed) async throws -> Bool

    /// Adds a send; a repetition with the same key and the same request returns the existing send.
    ///
    /// - Returns: The send; `nil` where the key names another request.
    func addSend(
        id: String, hub: Int64, _ request: SendRequest, state: SendState, at now: Timestamp
    ) async throws -> SendRecord?
    /// Adds a test send that has already begun for an audience, and that no runner continues before `resumesAt`.
    ///
    /// - Returns: The send, and whether it is new; `nil` where the key names another request, or a send that is no
    ///   test.
    func addTest(
        id: String, hub: Int64, _ request: SendRequest, audience: Bitmap, resumesAt: Timestamp, at now: Timestamp
    ) async throws -> (record: SendRecord, isNew: Bool)?
    /// Reads a send.
    func send(_ id: String, hub: Int64) async throws -> SendRecord?
    /// Reads the send of an idempotency key.
    func send(ofKey key: String, hub: Int64) async throws -> SendRecord?
    /// The sends with numbers below `number`, newest first.
    ///
    /// - Parameter campaigns: Whether only campaigns are returned.
    func sends(
        hub: Int64, before number: Int64, states: [SendState]?, campaigns: Bool, limit: Int
    ) async throws -> [SendRecord]
    /// The sends that can go on now, the 10,000 oldest, by rising number.
    func runnableSends(at now: Timestamp) async throws -> [RunnableSend]
    /// A send, if it can go on now.
    func runnableSend(_ number: Int64, at now: Timestamp) async throws -> SendRecord?
    /// Sends by number; deleted ones are left out.
    func sends(_ numbers: [Int64]) async throws -> [SendRecord]
    /// Deletes up to `limit` sends that ended before an instant; returns whether there are more.
    func deleteSends(endedBefore instant: Timestamp, limit: Int) async throws -> Bool
    /// The time at which the next send is due after an instant.
    func nextDue(after now: Timestamp) async throws -> Timestamp?
    /// Changes the state if it is one of `states`; `nil` where it is not. A resumed send is runnable at once, and its
    /// parts make no more copies (``PartClosure/closed``).
    func setState(
        _ state: SendState, of send: Int64, from states: [SendState], at now: Timestamp
    ) async throws -> SendRecord?
    /// Records the audience of a send, and that the send began.
    ///
    /// - Parameters:
    ///   - waves: The waves and their times; `nil` for a send without waves.
    ///   - parts: The parts that are submitted as broadcasts.
    func begin(
        _ send: Int64, audience: Bitmap, targeted: Int, waves: WaveChange?, parts: [SendPartDraft], at now: Timestamp
    ) async throws
    /// The next wave of a send; `nil` where there is none.
    func nextWave(ofSend send: Int64) async throws -> SendWave?
    /// The members of a wave.
    func audience(of wave: SendWave) async throws -> Bitmap
    /// The present members of all waves of a send.
    func audienceOfWaves(ofSend send: Int64) async throws -> Bitmap
    /// Opens a wave: stores its remaining audience, later waves, counts of those left out, and broadcast parts.
    func open(
        _ wave: SendWave, audience: Bitmap, _ change: WaveChange, parts: [SendPartDraft], at now: Timestamp
    ) async throws
    /// The next part of a send that was not submitted, or is closed and has no successor; `nil` where there is none.
    func nextPart(ofSend send: Int64) async throws -> SendPart?
    /// The parts of a send, by number.
    func parts(ofSend send: Int64) async throws -> [SendPart]
    /// The members of a part.
    func audience(of part: SendPart) async throws -> Bitmap
    /// Records that a part was submitted as a broadcast.
    func setBroadcast(_ broadcast: AcceptedBroadcast, of part: SendPart) async throws
    /// The members of a part that have no row in the report, can be reached, and have had the same channel since.
    func remaining(of part: SendPart) async throws -> Bitmap
    /// Moves members out of a closed part into a new part with the same moment and expiration; an empty set makes no
    /// part.
    func divide(_ part: SendPart, leaving rest: Bitmap) async throws
    /// Deletes a part that was not submitted: its members are sent to in slices.
    func drop(_ part: SendPart) async throws
    /// Records that a part was withdrawn.
    func noteWithdrawn(_ part: SendPart, at now: Timestamp) async throws
    /// Stores report rows for copies of a part's broadcast, up to and including `copy`.
    func storeRecipients(_ recipients: [SendRecipient], of part: SendPart, upTo copy: NotificationID) async throws
    /// The installations with these device tokens of this server, by token; tokens are in lower case.
    func owners(_ tokens: [String], hub: Int64) async throws -> [String: StoredInstallation]
    /// The lists of parts by the parts' numbers. Parts that are closed or withdrawn are left out, and so are those of
    /// sends that are held, cancelled or given up. Blocks.
    func openLists(_ parts: [Int64]) throws -> [Int64: BroadcastMembers]
    /// The owners of the device tokens, in lower case, of each registration, in the order of the registrations. Blocks.
    func tokenOwners(_ registrations: [[String]], hub: Int64) throws -> [[TokenOwner]]
    /// Records that the installations with some device tokens, in lower case, were seen, unless they were seen in that
    /// minute already.
    func markSeen(_ tokens: [String], at now: Timestamp, committed: @escaping Committed) async throws
    /// Ends a send whose waves are over, or lets it wait for its retries; `false` where it had no waves.
    func endWaves(ofSend send: Int64, at now: Timestamp) async throws -> Bool
    /// Postpones a send to an instant, or to an earlier one at which a retry is due.
    func rest(_ send: Int64, until instant: Timestamp) async throws
    /// The recipients that each campaign of a hub reached, or will reach, after an instant; one campaign is left out.
    func reached(hub: Int64, since instant: Timestamp, but send: Int64) async throws -> CampaignReach
    /// The number of installations left out of a send, by ``ExclusionReason``.
    func leftOut(of send: Int64) async throws -> [ExclusionReason: Int]
    /// The installations left out of a send, by ``ExclusionReason``; none for a send that began before this was stored.
    ///
    /// - Throws: ``UnreadableSend`` where they cannot be read.
    func audiencesLeftOut(ofSend send: Int64) async throws -> [ExclusionReason: Bitmap]
    /// The number of recipients of each variant of a send.
    func variants(of send: Int64) async throws -> [String: Int]
    /// Gives up a send that has not ended.
    func abandon(_ send: Int64, reason: String, at now: Timestamp) async throws
    /// The audience of a send that began.
    func audience(ofSend send: Int64) async throws -> Bitmap
    /// Records the progress of a send after a slice.
    ///
    /// - Throws: ``ClaimedElsewhereError`` where the slice is recorded already.
    func advance(_ send: Int64, hub: Int64, _ progress: SendProgress, committed: @escaping Committed) async throws
    /// The evidence of a send's responses so far about the environment of the hub's credential.
    func environmentEvidence(of send: Int64) async throws -> EnvironmentEvidence
    /// The rows of a send whose retry is due, the earliest first.
    func dueRetries(of send: Int64, at now: Timestamp, limit: Int) async throws -> [SendRecipient]
    /// The rows of a send, after a place in the order of numbers and parts.
    func recipients(
        of send: Int64, after place: (installation: UInt32, part: String)?, limit: Int
    ) async throws -> [SendRecipient]
    /// Updates the rows of recipients, found by installation number and part, with the time of the look-up.
    func updateRecipients(_ recipients: [SendRecipient], of send: Int64, lookedUpAt now: Timestamp) async throws
    /// Recipients whose end is not final and that were looked up before `instant`, the least recent look-up first.
    func openRecipients(of send: Int64, lookedUpBefore instant: Timestamp, limit: Int) async throws -> [SendRecipient]
    /// Merges pairs of rows of a part, at most `count` times: the row of a member whose installation was deleted, and
    /// the row of a copy whose installation is unknown. Which copy belonged to which member is unknown too, and neither
    /// row names an installation.
    func matchDeletedRecipients(_ count: Int, of part: SendPart) async throws
    /// Counts of a send's recipients by their common properties and those of their installations, and the row counts of
    /// each part.
    func recipientCounts(
        of send: Int64
    ) async throws -> (counts: [RecipientCount], installations: Int, byPart: [Int64: PartRows])
    /// The installations that have a row in a send's report.
    func installationsWithRow(ofSend send: Int64) async throws -> Bitmap
    /// The outcome counts of a send.
    func outcomes(of send: Int64) async throws -> [OutcomeCount]
    /// The failed notifications of a send, in the order in which they were recorded, after the number of a fault.
    func faults(of send: Int64, after number: Int64, limit: Int) async throws -> [SendFault]
}

extension HubStore {
    /// Runs a closure while no other server has a claim.
    ///
    /// - Throws: ``ClaimedElsewhereError`` where one has it, and the errors of the closure.
    func claiming<Result: Sendable>(
        _ claim: SQLClaim, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        guard isShared else { return try await body() }
        guard try await self.claim(claim) else { throw ClaimedElsewhereError() }
        do {
            let result = try await body()
            await release(claim)
            return result
        } catch {
            await release(claim)
            throw error
        }
    }
}

/// An error: another server has changed the audience that a put is judged by.
struct AudienceChangedError: Error {}

/// An error: another server does the work, or has done it.
package struct ClaimedElsewhereError: Error, Hashable, CustomStringConvertible {
    package var description: String { "another server does this" }

    /// Creates the error.
    package init() {}
}
