import Audience
import HubWire
import PushModel

/// Where hubs, their keys, installations and sends are durable; the port that a store implements.
///
/// Every write is one transaction, and is on the disk when it returns. `committed` is called on the writer's own queue after
/// the commit, in the order of the commits.
package protocol HubStore: Sendable {
    /// Tells what commits changed for audiences.
    typealias Committed = @Sendable ([AudienceChange]) -> Void
    /// Judges a put on the writer's own queue, when every commit before it was told of; what it throws ends the put.
    typealias Admission = @Sendable (HubPut) throws(HubFault) -> Void

    /// The hub of that name, compared without case.
    func hub(named name: String) async throws -> HubRecord?
    /// Every hub, by name.
    func hubs() async throws -> [HubRecord]
    /// The keys of a hub, by name.
    func keys(of hub: Int64) async throws -> [HubKey]
    /// The credentials with which a hub sends by other push services, by number.
    func credentials(of hub: Int64) async throws -> [PushCredential]
    /// The key of our own API whose SHA-256 this is.
    func apiKey(hash: [UInt8]) async throws -> HubAPIKey?
    /// Where events are sent, by the hubs' numbers.
    func webhooks() async throws -> [HubWebhook]
    /// Has a hub's events sent to an address; `nil` for nowhere, which forgets those that wait.
    func setWebhook(_ webhook: HubWebhook?, of hub: Int64) async throws
    /// The events of a hub that wait, in their order.
    func events(of hub: Int64, limit: Int) async throws -> [HubEvent]
    /// Ends an event that was taken.
    func endEvent(_ number: Int64) async throws
    /// Ends events of before an instant, and where more than `most` are left, the oldest of the hubs that have the most.
    ///
    /// - Returns: How many were too old, and how many too many.
    func deleteEvents(before instant: Timestamp, most: Int) async throws -> (expired: Int, full: Int)
    /// The campaigns that began before an instant and have not ended, of hubs that have a webhook, newest first.
    ///
    /// - Parameter limit: How many of each hub, at most.
    func runningCampaigns(begunBefore instant: Timestamp, limit: Int) async throws -> [(hub: Int64, id: String)]
    /// The hub and the name of the backend key with this SHA-256.
    func backendKey(hash: [UInt8]) async throws -> (HubRecord, String)?

    /// Reads everyone who can be reached on the writer's queue, where nothing is written meanwhile; `nil` after the last.
    ///
    /// - Returns: The hub's generation, at least, of which they are.
    func audience(of hub: Int64, _ body: @escaping @Sendable (AudienceEntry?) -> Void) async throws -> Int64

    /// Puts an installation in place of an earlier one of its id.
    ///
    /// - Parameter registersChannel: Whether its channel counts as registered now: then it lives, and another installation that has
    ///   it loses it. Else the channel stays as it is: dead, or another's, or registered when it was.
    /// - Parameter admission: Judges the put where its condition holds.
    /// - Returns: The installation, and whether it is new; `nil` where the condition does not hold.
    func put(
        _ installation: Installation, hub: Int64, condition: EntityCondition, registersChannel: Bool,
        at now: Timestamp, admission: @escaping Admission, committed: @escaping Committed
    ) async throws -> (StoredInstallation, isNew: Bool)?
    /// Reads an installation; its id is compared without case.
    func installation(_ id: String, hub: Int64) async throws -> StoredInstallation?
    /// Deletes an installation; `nil` where there is none, `false` where the condition does not hold.
    func delete(
        _ id: String, hub: Int64, condition: EntityCondition, committed: @escaping Committed
    ) async throws -> Bool?
    /// Takes installations out of every audience and list, before they are erased: nothing is handed over to them from now on.
    /// They keep their channels, by which copies of theirs are found.
    func retire(_ installations: [StoredInstallation], hub: Int64, at now: Timestamp, committed: @escaping Committed)
        async throws
    /// Deletes an installation and the events that name it; what sends wait to hear of its notifications has ended.
    ///
    /// - Returns: How many events; `nil` where there is no installation.
    func erase(_ id: String, hub: Int64, committed: @escaping Committed) async throws -> Int?
    /// The rows of an installation that waited for its device, or were on it, when they were looked at last, with the sends'
    /// numbers.
    func openRecipients(for installation: UInt32) async throws -> [(send: Int64, recipient: SendRecipient)]
    /// The parts in which an installation is and that make copies now.
    func openParts(with installation: UInt32, hub: Int64, at now: Timestamp) async throws -> [SendPart]
    /// Reads installations by number, those that are gone left out.
    func installations(_ numbers: [UInt32], hub: Int64) async throws -> [StoredInstallation]
    /// The installations after a number, rising.
    func installations(
        hub: Int64, after number: UInt32, isDead: Bool?, limit: Int
    ) async throws -> [StoredInstallation]
    /// The installations of a channel.
    func installations(hub: Int64, channel: String) async throws -> [StoredInstallation]
    /// Who has the channels of registrations, too, and comes before them: an installation, or a registration with a smaller
    /// number that takes native notifications. By the registrations' numbers; those whom nobody comes before are left out.
    func earlierOwners(
        of registrations: [StoredInstallation], hub: Int64, at now: Timestamp
    ) async throws -> [UInt32: [UInt32]]
    /// The numbers of a user's installations, the id compared without case.
    func numbers(ofUser user: String, hub: Int64) async throws -> [UInt32]
    /// Deletes what expired, a slice at a time; whether there is more.
    func deleteExpired(before instant: Timestamp, limit: Int, committed: @escaping Committed) async throws -> Bool

    /// Adds a send; one with the same key and the same request is the one that is there.
    ///
    /// - Returns: The send; `nil` where the key names another request.
    func addSend(
        id: String, hub: Int64, _ request: SendRequest, state: SendState, at now: Timestamp
    ) async throws -> SendRecord?
    /// Adds a send that has begun for some, and which nobody else carries on before an instant.
    ///
    /// - Returns: The send, and whether it is new; `nil` where the key names another request, or no test.
    func addTest(
        id: String, hub: Int64, _ request: SendRequest, audience: Bitmap, resumesAt: Timestamp, at now: Timestamp
    ) async throws -> (record: SendRecord, isNew: Bool)?
    /// Reads a send.
    func send(_ id: String, hub: Int64) async throws -> SendRecord?
    /// Reads the send of an idempotency key.
    func send(ofKey key: String, hub: Int64) async throws -> SendRecord?
    /// The sends before a number, newest first.
    ///
    /// - Parameter campaigns: Whether only campaigns are wanted.
    func sends(
        hub: Int64, before number: Int64, states: [SendState]?, campaigns: Bool, limit: Int
    ) async throws -> [SendRecord]
    /// The sends that can go on now, the 10,000 oldest, by rising number.
    func runnableSends(at now: Timestamp) async throws -> [RunnableSend]
    /// Sends by number, those that are gone left out.
    func sends(_ numbers: [Int64]) async throws -> [SendRecord]
    /// Deletes sends that ended before an instant, a slice at a time; whether there is more.
    func deleteSends(endedBefore instant: Timestamp, limit: Int) async throws -> Bool
    /// When the next send is due after an instant.
    func nextDue(after now: Timestamp) async throws -> Timestamp?
    /// Changes the state where it is one of some; `nil` where it is not. A send that goes on has its turn at once, and its parts
    /// make no copy any more (``PartClosure/closed``).
    func setState(
        _ state: SendState, of send: Int64, from states: [SendState], at now: Timestamp
    ) async throws -> SendRecord?
    /// Notes who is meant, and that the send began.
    ///
    /// - Parameters:
    ///   - waves: Who has a turn when; `nil` for a send without waves.
    ///   - parts: Who is handed over as one.
    func begin(
        _ send: Int64, audience: Bitmap, targeted: Int, waves: WaveChange?, parts: [SendPartDraft], at now: Timestamp
    ) async throws
    /// The wave of a send whose turn is next; `nil` where there is none.
    func nextWave(ofSend send: Int64) async throws -> SendWave?
    /// Who is in a wave.
    func audience(of wave: SendWave) async throws -> Bitmap
    /// Who is in any wave of a send, now.
    func audienceOfWaves(ofSend send: Int64) async throws -> Bitmap
    /// Opens a wave: stores its remaining audience, later waves, counts of those left out, and broadcast parts.
    func open(
        _ wave: SendWave, audience: Bitmap, _ change: WaveChange, parts: [SendPartDraft], at now: Timestamp
    ) async throws
    /// The next part of a send that was not handed over, or is closed and has no successor; `nil` where there is none.
    func nextPart(ofSend send: Int64) async throws -> SendPart?
    /// The parts of a send, by number.
    func parts(ofSend send: Int64) async throws -> [SendPart]
    /// Who is in a part.
    func audience(of part: SendPart) async throws -> Bitmap
    /// Notes that a part was handed over.
    func note(_ broadcast: TakenBroadcast, of part: SendPart) async throws
    /// Those of a part who have no row in the report, can be reached, and have had the same channel since.
    func remaining(of part: SendPart) async throws -> Bitmap
    /// Takes some out of a closed part and makes a part of them, with the same moment and the same end. Nobody for none.
    func divide(_ part: SendPart, leaving rest: Bitmap) async throws
    /// Forgets a part that was not handed over: its members go in slices.
    func drop(_ part: SendPart) async throws
    /// Notes that a part was taken back.
    func noteWithdrawn(_ part: SendPart, at now: Timestamp) async throws
    /// Stores report rows for copies of a part's broadcast, up to and including `copy`.
    func note(_ recipients: [SendRecipient], of part: SendPart, upTo copy: NotificationID) async throws
    /// The installations that have these device tokens of this server, by token; tokens are in lower case.
    func owners(_ tokens: [String], hub: Int64) async throws -> [String: StoredInstallation]
    /// The lists of parts by their numbers, without those whose send is held, was cancelled or given up, and those that are closed
    /// or were taken back. Blocks.
    func openLists(_ parts: [Int64]) throws -> [Int64: OpenList]
    /// Those who have one of some registrations' device tokens, which are in lower case, for each in turn. Blocks.
    func tokenOwners(_ registrations: [[String]], hub: Int64) throws -> [[TokenOwner]]
    /// Notes that those were seen who have one of some device tokens, which are in lower case, and were seen before that instant's
    /// minute.
    ///
    /// - Returns: Their numbers by their hubs'.
    func see(_ tokens: [String], at now: Timestamp) async throws -> [Int64: [UInt32]]
    /// Has a send whose waves are over wait for what is tried again, or ends it; `false` where it had no waves.
    func endWaves(ofSend send: Int64, at now: Timestamp) async throws -> Bool
    /// Has a send wait for an instant, or for an earlier one at which something is tried again.
    func rest(_ send: Int64, until instant: Timestamp) async throws
    /// Whom each campaign of a hub reached, or is going to reach, whose turn is after an instant; but for one campaign.
    func reached(hub: Int64, since instant: Timestamp, but send: Int64) async throws -> CampaignReach
    /// How many are left out of a send, by ``LeftOut``.
    func leftOut(of send: Int64) async throws -> [LeftOut: Int]
    /// Who is left out of a send, by ``LeftOut``; of a send that began before this was kept, nobody.
    ///
    /// - Throws: ``UnreadableSend`` where that cannot be read.
    func audiencesLeftOut(ofSend send: Int64) async throws -> [LeftOut: Bitmap]
    /// How many got which variant of a send.
    func variants(of send: Int64) async throws -> [String: Int]
    /// Gives up a send that has not ended.
    func abandon(_ send: Int64, reason: String, at now: Timestamp) async throws
    /// Who is meant by a send that began.
    func audience(ofSend send: Int64) async throws -> Bitmap
    /// Notes what was handed over.
    func advance(_ send: Int64, hub: Int64, _ progress: SendProgress, committed: @escaping Committed) async throws
    /// What the answers to a send said so far of the environment of the hub's credential.
    func environmentEvidence(of send: Int64) async throws -> EnvironmentEvidence
    /// Those of a send who are to be tried again by now, the earliest first.
    func dueRetries(of send: Int64, at now: Timestamp, limit: Int) async throws -> [SendRecipient]
    /// Those of a send whose turn has come, after one of them in the order of numbers and parts.
    func recipients(
        of send: Int64, after place: (installation: UInt32, part: String)?, limit: Int
    ) async throws -> [SendRecipient]
    /// Updates the rows of recipients, found by installation number and part, with the time of the look-up.
    func note(_ recipients: [SendRecipient], of send: Int64, lookedUpAt now: Timestamp) async throws
    /// Recipients whose end is not final and that were looked up before `instant`, the least recent look-up first.
    func openRecipients(of send: Int64, lookedUpBefore instant: Timestamp, limit: Int) async throws -> [SendRecipient]
    /// Makes one row of each two of a part, so many times at most: of a member whose installation was gone, and of a copy whose
    /// installation is not known. Which copy was whose is not known either, and neither row names anybody.
    func joinGone(_ count: Int, of part: SendPart) async throws
    /// Counts of a send's recipients by their common properties, of their installations, and of the rows of each part.
    func recipientCounts(
        of send: Int64
    ) async throws -> (counts: [RecipientCount], installations: Int, byPart: [Int64: PartRows])
    /// Those who have a row in a send's report.
    func installationsWithRow(ofSend send: Int64) async throws -> Bitmap
    /// The counts of a send.
    func outcomes(of send: Int64) async throws -> [OutcomeCount]
    /// What did not succeed, in the order in which it was noted, after the number of a fault.
    func faults(of send: Int64, after number: Int64, limit: Int) async throws -> [SendFault]
}

/// Under which condition something is changed (RFC 9110, section 13.1).
package enum EntityCondition: Hashable, Sendable {
    /// Under none.
    case none
    /// It is there.
    case exists
    /// It is not there.
    case isMissing
    /// It is there in this version.
    case version(Int64)

    /// Whether it holds for what is there.
    package func holds(_ version: Int64?) -> Bool {
        switch self {
        case .none: true
        case .exists: version != nil
        case .isMissing: version == nil
        case .version(let wanted): version == wanted
        }
    }
}
