import Foundation
import PushCore
import SwiftProtobuf

/// Why a data stanza is not a notification of Aldaba's.
package enum MCSStanzaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A field is missing or its value is none of those allowed; the name is the stanza's or an `app_data` key.
    case field(String)

    package var description: String {
        switch self {
        case .field(let name): "data stanza: \(name) is missing or malformed"
        }
    }
}

extension MCSDataMessageStanza {
    /// The stanza that carries a notification to its device.
    ///
    /// `raw_data` is the payload verbatim, category the topic, token the collapse id, from the team, and the
    /// persistent id the decimal internal id. What APNs adds travels in `app_data` under ``MCSKey``.
    ///
    /// - Parameter now: The moment of writing; the stanza's `queued` counts from the acceptance to it.
    package init(_ notification: OutgoingNotification, now: Timestamp) {
        self.init()
        id = notification.id.description
        persistentID = notification.id.description
        from = notification.team.rawValue
        category = notification.topic.rawValue
        if let collapseID = notification.collapseID { token = collapseID }
        sent = notification.acceptedAt.rawValue
        queued = Self.wholeSeconds(from: notification.acceptedAt, to: now)
        if let notice = notification.notice {
            ttl = Self.longestTTL
            appData = Self.appData(of: notice, notification)
            return
        }
        ttl = notification.expiresAt.map { Self.wholeSeconds(from: notification.acceptedAt, to: $0) } ?? 0
        rawData = Data(notification.payload)
        appData = Self.appData(of: notification)
    }

    /// The longest `ttl` of a stanza, in seconds: four weeks.
    private static let longestTTL: Int32 = 2_419_200

    private static func appData(of notification: OutgoingNotification) -> [MCSAppData] {
        var pairs = [
            MCSAppData(MCSKey.apnsID, notification.apnsID.rawValue),
            MCSAppData(MCSKey.priority, String(notification.priority.rawValue)),
            MCSAppData(MCSKey.environment, notification.environment.rawValue),
            MCSAppData(MCSKey.accepted, String(notification.acceptedAt.rawValue)),
        ]
        if let pushType = notification.pushType {
            pairs.append(MCSAppData(MCSKey.pushType, pushType.rawValue))
        }
        if let expiresAt = notification.expiresAt {
            pairs.append(MCSAppData(MCSKey.expiration, String(expiresAt.rawValue)))
        }
        if notification.lane == .fcm {
            pairs.append(MCSAppData(MCSKey.lane, "fcm"))
        }
        return pairs
    }

    static func wholeSeconds(from start: Timestamp, to end: Timestamp) -> Int32 {
        Int32(clamping: max(0, end.milliseconds(since: start)) / 1000)
    }

    /// Reads the notification that ``init(_:now:)`` wrote, or the notice.
    ///
    /// An unknown push type is read as absent and an unknown priority as 10, so that an older agent still
    /// delivers what a newer server sends.
    ///
    /// - Throws: ``MCSStanzaError`` when what names the notification is missing or malformed.
    package func notification() throws(MCSStanzaError) -> OutgoingNotification {
        guard let id = NotificationID(text: persistentID) else { throw .field("persistent_id") }
        guard Topic.hasShape(category) else { throw .field("category") }
        let values = appDataByKey
        guard let environment = values[MCSKey.environment].flatMap(PushEnvironment.init(rawValue:)) else {
            throw .field(MCSKey.environment)
        }
        if let notice = try notice(values) {
            return OutgoingNotification(
                notice, id: id, team: TeamID(rawValue: from), topic: Topic(rawValue: category),
                environment: environment, lane: values[MCSKey.lane] == "fcm" ? .fcm : .apns,
                at: Timestamp(rawValue: sent))
        }
        guard let apnsID = values[MCSKey.apnsID] else { throw .field(MCSKey.apnsID) }
        return OutgoingNotification(
            id: id, apnsID: APNsID(rawValue: apnsID), team: TeamID(rawValue: from), topic: Topic(rawValue: category),
            environment: environment, lane: values[MCSKey.lane] == "fcm" ? .fcm : .apns,
            pushType: values[MCSKey.pushType].flatMap(PushType.init(rawValue:)),
            priority: values[MCSKey.priority].flatMap { UInt8($0) }.flatMap(Priority.init(rawValue:)) ?? .immediate,
            collapseID: hasToken ? token : nil,
            acceptedAt: values[MCSKey.accepted].flatMap { Int64($0) }.map(Timestamp.init(rawValue:))
                ?? Timestamp(rawValue: sent),
            expiresAt: try expiration(values), payload: [UInt8](rawData))
    }

    private func expiration(_ values: [String: String]) throws(MCSStanzaError) -> Timestamp? {
        guard let text = values[MCSKey.expiration] else { return nil }
        guard let milliseconds = Int64(text) else { throw .field(MCSKey.expiration) }
        return Timestamp(rawValue: milliseconds)
    }

    var appDataByKey: [String: String] {
        Dictionary(appData.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

extension MCSAppData {
    init(_ key: String, _ value: String) {
        self.init()
        self.key = key
        self.value = value
    }
}
