import PushCore

/// How a notice travels: as FCM's messages about messages do, by `message_type` in a stanza without a payload.
extension MCSDataMessageStanza {
    static func appData(of notice: DeviceNotice, _ outgoing: OutgoingNotification) -> [MCSAppData] {
        var pairs = [MCSAppData(MCSKey.environment, outgoing.environment.rawValue)]
        if outgoing.lane == .fcm { pairs.append(MCSAppData(MCSKey.lane, "fcm")) }
        switch notice {
        case .deleted(let count, let since):
            pairs += [
                MCSAppData(MCSKey.messageType, MCSMessageType.deletedMessages),
                MCSAppData(MCSKey.totalDeleted, String(count)),
                MCSAppData(MCSKey.deletedSince, String(since.rawValue)),
            ]
        case .withdrawn(let notification):
            pairs += [
                MCSAppData(MCSKey.messageType, MCSMessageType.withdrawn),
                MCSAppData(MCSKey.withdrawn, notification.description),
            ]
        }
        return pairs
    }

    /// Reads a notice; `nil` for a notification.
    ///
    /// - Throws: ``MCSStanzaError`` for an unknown kind of message, and for a notice whose values are malformed.
    func notice(_ values: [String: String]) throws(MCSStanzaError) -> DeviceNotice? {
        switch values[MCSKey.messageType] {
        case nil, MCSMessageType.notification: return nil
        case MCSMessageType.deletedMessages:
            guard let count = values[MCSKey.totalDeleted].flatMap({ Int($0) }), count > 0 else {
                throw .field(MCSKey.totalDeleted)
            }
            // FCM itself sends the time of the notice, not of the first deletion.
            guard let text = values[MCSKey.deletedSince] else {
                return .deleted(count: count, since: Timestamp(rawValue: sent))
            }
            guard let since = Int64(text) else { throw .field(MCSKey.deletedSince) }
            return .deleted(count: count, since: Timestamp(rawValue: since))
        case MCSMessageType.withdrawn:
            guard let notification = values[MCSKey.withdrawn].flatMap(NotificationID.init(text:)) else {
                throw .field(MCSKey.withdrawn)
            }
            return .withdrawn(notification)
        default: throw .field(MCSKey.messageType)
        }
    }
}
