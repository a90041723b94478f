import Fanout
import Logging
import Observability
import PushModel

/// Knows who is in the lists that broadcasts are for; the port of those who keep lists.
public protocol RecipientLists: Sendable {
    /// Which of the registrations are in which list: those who were in at the list's moment and have not left it since.
    ///
    /// - Parameter registrations: By list; a list that is not there any more has nobody.
    /// - Throws: when it cannot be read. Then it is asked again later, and nothing is decided meanwhile.
    func members(_ registrations: [Int64: [TokenSubject]]) throws -> [Int64: Set<DeviceID>]
}

/// Sends to lists, for those who keep them.
public protocol ListBroadcasting: BroadcastWithdrawal {
    /// Has a message reach the registrations of a list: at once those that are connected, the others when they connect.
    ///
    /// - Returns: The broadcast that is durable: the same one for the same ``ListMessage/name``, however often it is sent.
    /// - Throws: when the store does not take it; the same message may be sent again.
    func send(_ message: ListMessage, from team: TeamID) async throws -> Broadcast

    /// The copies of a broadcast after one of them, in the order in which they were made.
    func copies(
        of broadcast: NotificationID, after: NotificationID?, limit: Int
    ) async throws -> [BroadcastCopy]
}

/// A message for the registrations of a list.
public struct ListMessage: Hashable, Sendable {
    /// What names the message: the same one is stored once. No two messages may share it.
    public var name: String
    /// Who it is for.
    public var list: RecipientList
    /// Who it is for, as people read it.
    public var audience: String
    /// The payload.
    public var content: PushContent
    /// The kind of push; `nil` where the sender named none.
    public var pushType: PushType?
    /// How urgent it is.
    public var priority: Priority
    /// Its collapse id; `nil` where it replaces nothing.
    public var collapseID: String?
    /// Until when it reaches those who connect later.
    public var expiry: Expiry

    /// Brings the parts together.
    public init(
        name: String, to list: RecipientList, audience: String, content: PushContent, pushType: PushType? = nil,
        priority: Priority = .immediate, collapseID: String? = nil, expiry: Expiry = .policyDefault
    ) {
        self.name = name
        self.list = list
        self.audience = audience
        self.content = content
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.expiry = expiry
    }
}

/// A copy of a broadcast: a notification of one registration.
public struct BroadcastCopy: Hashable, Sendable {
    /// The copy's own id; later copies of a broadcast have higher ones.
    public var id: NotificationID
    /// The device for which it was made.
    public var device: DeviceID
    /// The app on it.
    public var place: AppPlace
    /// The generation of the registration.
    public var generation: UInt16

    /// Names a copy.
    public init(id: NotificationID, device: DeviceID, place: AppPlace, generation: UInt16) {
        self.id = id
        self.device = device
        self.place = place
        self.generation = generation
    }
}

extension MailboxService {
    /// Asks in which lists the devices of a batch are, those alone for which there are broadcasts.
    ///
    /// Where that cannot be told, the devices get nothing of these broadcasts for now.
    func learnLists(_ batch: inout MailboxBatch) {
        var asked: [Int64: [TokenSubject]] = [:]
        batch.forEachListed { list, device, registration in
            asked[list, default: []].append(
                TokenSubject(
                    cell: settings.cell, device: device, app: registration.place.app,
                    environment: registration.place.environment, generation: registration.generation))
        }
        guard !asked.isEmpty else { return }
        do {
            batch.learn(lists: try lists?.members(asked) ?? [:])
        } catch {
            logger.error("who is in a list is asked again", metadata: [LogKey.error: "\(error)"])
            isUnsureOfLists = true
            batch.learn(lists: nil)
        }
    }
}
