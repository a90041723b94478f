import Audience
import PushModel

/// Those of a send who get the same payload on this server's own devices: the gateway takes them as one broadcast, for a list
/// that the hub keeps.
///
/// The list has whoever was in when the send began, or its wave was opened. Who of them has deleted the installation or given it
/// another channel since has left it.
///
/// A pause ends a part's copies for good. When the send goes on, those who have none become a part of their own, with the same
/// moment and the same end, which is handed over as another broadcast.
package struct SendPart: Hashable, Sendable {
    /// Its number, which is the list's.
    package var number: Int64
    /// The send's number.
    package var send: Int64
    /// A language whose payload is theirs; `nil` for those without one.
    package var locale: String?
    /// The variant of an experiment that they get; `nil` where there is none.
    package var variant: String?
    /// How many they are.
    package var count: Int
    /// The broadcast; `nil` until it was handed over.
    package var broadcast: NotificationID?
    /// Until when the broadcast makes copies.
    package var expiresAt: Timestamp?
    /// When it was taken back; `nil` where it was not.
    package var withdrawnAt: Timestamp?
    /// The last copy that has a row in the report; `nil` before the first.
    package var followed: NotificationID?
    /// Whether a pause has ended its copies.
    package var closure = PartClosure.open

    /// Brings the parts together.
    package init(
        number: Int64, send: Int64, locale: String?, variant: String?, count: Int, broadcast: NotificationID? = nil,
        expiresAt: Timestamp? = nil, withdrawnAt: Timestamp? = nil, followed: NotificationID? = nil
    ) {
        self.number = number
        self.send = send
        self.locale = locale
        self.variant = variant
        self.count = count
        self.broadcast = broadcast
        self.expiresAt = expiresAt
        self.withdrawnAt = withdrawnAt
        self.followed = followed
    }

    /// The end of members that have no copy yet; `nil` before the part was handed over.
    func end(of record: SendRecord, at now: Timestamp) -> SendReport.End? {
        guard broadcast != nil || withdrawnAt != nil else { return nil }
        if withdrawnAt != nil || [.canceled, .abandoned].contains(record.state) { return .ended }
        return expiresAt.map { $0 <= now } ?? false ? .expired : .waiting
    }
}

/// How many rows of a send's report are of one part.
package struct PartRows: Hashable, Sendable {
    /// How many there are.
    package var count = 0
    /// How many of them have no installation: it was deleted after their copy was made.
    package var ownerless = 0

    /// Brings the parts together.
    package init(count: Int = 0, ownerless: Int = 0) {
        self.count = count
        self.ownerless = ownerless
    }
}

/// Members of a part that have no row.
struct UnreachedMembers {
    var part: SendPart
    var end: SendReport.End
    /// How many they are.
    var count: Int
    /// How many more the part seems to have: their rows have no installation.
    var ownerless: Int
}

/// Whether a part makes copies, as far as pauses are concerned.
package enum PartClosure: Int, Hashable, Sendable {
    /// It makes copies, but for while the send is held.
    case open = 0
    /// The send was held and goes on: the part makes no copy any more, and those without one have no other part yet.
    case closed = 1
    /// Those without a copy have another part.
    case succeeded = 2
}

/// A part that is to be kept.
package struct SendPartDraft: Hashable, Sendable {
    /// Who is in it, by number.
    package var audience: Bitmap
    /// A language whose payload is theirs.
    package var locale: String?
    /// The variant of an experiment that they get.
    package var variant: String?

    /// Brings the parts together.
    package init(audience: Bitmap, locale: String? = nil, variant: String? = nil) {
        self.audience = audience
        self.locale = locale
        self.variant = variant
    }
}

/// A list that a broadcast is for, as the store has it.
package struct OpenList: Hashable, Sendable {
    /// Its hub's number.
    package var hub: Int64
    /// The hub's generation, by which other processes tell that they changed installations.
    package var generation: Int64
    /// The hub's moment at which it was written down.
    package var moment: Int64
    /// Who was in, by number.
    package var audience: Bitmap

    /// Brings the parts together.
    package init(hub: Int64, generation: Int64, moment: Int64, audience: Bitmap) {
        self.hub = hub
        self.generation = generation
        self.moment = moment
        self.audience = audience
    }
}

/// An installation that has a device token of this server now, and can be reached.
package struct TokenOwner: Hashable, Sendable {
    /// The installation's number.
    package var number: UInt32
    /// The hub's moment (its version) at which the installation's channel was last changed.
    package var moment: Int64
    /// When its time is over; `nil` for never.
    package var expiresAt: Timestamp?

    /// Brings the parts together.
    package init(number: UInt32, moment: Int64, expiresAt: Timestamp?) {
        self.number = number
        self.moment = moment
        self.expiresAt = expiresAt
    }
}

/// What is sent to a list.
package struct HubBroadcast: Hashable, Sendable {
    /// Names it: the same one is stored once.
    package var name: String
    /// The list.
    package var list: Int64
    /// Who is meant, as people read it.
    package var audience: String
    /// The payload.
    package var body: [UInt8]
    /// The header fields for the push service, by their names in lower case.
    package var headers: [String: String]
    /// Until when it makes copies; `nil` for what the header fields say.
    package var expiresAt: Timestamp?
}

/// A broadcast that was taken.
package struct TakenBroadcast: Hashable, Sendable {
    /// Its id.
    package var id: NotificationID
    /// Until when it makes copies.
    package var expiresAt: Timestamp

    /// Brings the parts together.
    package init(id: NotificationID, expiresAt: Timestamp) {
        self.id = id
        self.expiresAt = expiresAt
    }
}

/// The port by which a hub hands the gateway one notification for many of this server's own devices.
package protocol BroadcastGateway: Sendable {
    /// Looks at notifications as the gateway does before it takes them; none is taken.
    ///
    /// - Returns: One verdict each, as ``PushSender/deliver(_:of:)``.
    func examine(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?]

    /// Hands a broadcast over. A repetition returns the existing broadcast.
    ///
    /// - Returns: `nil` where the gateway does not take it: each recipient is told why by ``examine(_:of:)``.
    /// - Throws: where it is not known whether it was taken.
    func broadcast(_ broadcast: HubBroadcast, of hub: HubRecord) async throws -> TakenBroadcast?

    /// The copies of a broadcast after one of them, each with the device tokens of its registration, in lower case.
    func copies(
        of broadcast: NotificationID, after: NotificationID?, limit: Int
    ) async throws -> [(id: NotificationID, tokens: [String])]

    /// Waits until no copy is made any more for what was read of lists before.
    ///
    /// - Throws: where it is not known.
    func settle() async throws

    /// Takes a broadcast back, and its copies.
    func withdraw(_ broadcast: NotificationID) async throws
}
