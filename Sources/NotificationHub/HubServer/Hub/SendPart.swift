import HubProtocol
import PushCore

/// A part of a send: the members that get the same payload on this server's own devices. The gateway takes the part as
/// one broadcast, for a list that the hub keeps.
///
/// The list contains the installations that existed when the send began, or its wave was opened. An installation that
/// was deleted or got another channel since has left it.
///
/// A pause ends a part's copies for good. When the send is resumed, the members without a copy become a new part with
/// the same moment and expiration, which is submitted as another broadcast.
package struct SendPart: Hashable, Sendable {
    /// The part's number, which is also the list's.
    package var number: Int64
    /// The send's number.
    package var send: Int64
    /// The language of the payload; `nil` for members without one.
    package var locale: String?
    /// The variant of an experiment that the members get; `nil` where there is none.
    package var variant: String?
    /// The number of members.
    package var count: Int
    /// The broadcast; `nil` until the part was submitted.
    package var broadcast: NotificationID?
    /// The time until which the broadcast makes copies.
    package var expiresAt: Timestamp?
    /// The time at which the part was withdrawn; `nil` where it was not.
    package var withdrawnAt: Timestamp?
    /// The last copy that has a row in the report; `nil` before the first.
    package var followed: NotificationID?
    /// Whether a pause has ended its copies.
    package var closure = PartClosure.open

    /// Creates an instance from its properties.
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

    /// The end of members that have no copy yet; `nil` before the part was submitted.
    func end(of record: SendRecord, at now: Timestamp) -> SendReport.End? {
        guard broadcast != nil || withdrawnAt != nil else { return nil }
        if withdrawnAt != nil || [.canceled, .abandoned].contains(record.state) { return .ended }
        return expiresAt.map { $0 <= now } ?? false ? .expired : .waiting
    }
}

/// The number of rows of a send's report that belong to one part.
package struct PartRows: Hashable, Sendable {
    /// The number of rows.
    package var count = 0
    /// The number of rows without an installation: it was deleted after its copy was made.
    package var ownerless = 0

    /// Creates an instance from its properties.
    package init(count: Int = 0, ownerless: Int = 0) {
        self.count = count
        self.ownerless = ownerless
    }
}

/// The members of a part that have no row.
struct UnreachedMembers {
    var part: SendPart
    var end: SendReport.End
    /// The number of members.
    var count: Int
    /// The excess of that number: rows without an installation, which belong to deleted members.
    var ownerless: Int
}

/// The state of a part's copies with regard to pauses.
package enum PartClosure: Int, Hashable, Sendable {
    /// The part makes copies, except while the send is paused.
    case open = 0
    /// The send was paused and resumed: the part makes no more copies, and its members without one have no other part
    /// yet.
    case closed = 1
    /// The members without a copy have another part.
    case succeeded = 2
}

/// A part that is to be stored.
package struct SendPartDraft: Hashable, Sendable {
    /// The members' installation numbers.
    package var audience: Bitmap
    /// The language of the payload.
    package var locale: String?
    /// The variant of an experiment that the members get.
    package var variant: String?

    /// Creates an instance from its properties.
    package init(audience: Bitmap, locale: String? = nil, variant: String? = nil) {
        self.audience = audience
        self.locale = locale
        self.variant = variant
    }
}

/// The list of a broadcast, as the store keeps it.
package struct BroadcastMembers: Hashable, Sendable {
    /// The number of the hub.
    package var hub: Int64
    /// The hub's generation, which other processes raise when they change installations.
    package var generation: Int64
    /// The version of the hub's audience.
    package var version: Int64
    /// The version of the hub's lists (`hub.moment`) at which the list was stored.
    package var moment: Int64
    /// The members at that version, by installation number.
    package var audience: Bitmap

    /// Creates an instance from its properties.
    package init(hub: Int64, generation: Int64, version: Int64, moment: Int64, audience: Bitmap) {
        self.hub = hub
        self.generation = generation
        self.version = version
        self.moment = moment
        self.audience = audience
    }
}

/// An installation that has a device token of this server now, and can be reached.
package struct TokenOwner: Hashable, Sendable {
    /// The installation's number.
    package var number: UInt32
    /// The version of the hub's lists (`hub.moment`) at which the installation's channel last changed.
    package var moment: Int64
    /// The time at which the installation expires; `nil` for never.
    package var expiresAt: Timestamp?

    /// Creates an instance from its properties.
    package init(number: UInt32, moment: Int64, expiresAt: Timestamp?) {
        self.number = number
        self.moment = moment
        self.expiresAt = expiresAt
    }
}

/// A broadcast of a hub to a list.
package struct HubBroadcast: Hashable, Sendable {
    /// The broadcast's name: a repetition with the same name is stored once.
    package var name: String
    /// The number of the list.
    package var list: Int64
    /// The audience in readable form.
    package var audience: String
    /// The payload.
    package var body: [UInt8]
    /// The header fields for the push service, by their names in lower case.
    package var headers: [String: String]
    /// The time until which it makes copies; `nil` for the expiration in the header fields.
    package var expiresAt: Timestamp?
}

/// A broadcast that the gateway accepted.
package struct AcceptedBroadcast: Hashable, Sendable {
    /// The broadcast's id.
    package var id: NotificationID
    /// The time until which it makes copies.
    package var expiresAt: Timestamp

    /// Creates an instance from its properties.
    package init(id: NotificationID, expiresAt: Timestamp) {
        self.id = id
        self.expiresAt = expiresAt
    }
}
