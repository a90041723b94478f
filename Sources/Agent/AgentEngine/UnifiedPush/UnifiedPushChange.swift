import PushCore
import WebPushProtocol

/// A change of the store that concerns UnifiedPush.
package enum UnifiedPushChange: Sendable, Hashable {
    /// A message came over the device channel.
    case arrived(ReceivedUnifiedPushMessage)
    /// An app has registered, in place of an earlier registration with its token, whose endpoint stays if the channel does. The server is to forget the channel that ends
    /// thereby, where there is one.
    case registered(UnifiedPushRegistration, ending: PushChannelID?)
    /// The server has given the endpoint of a registration's channel.
    case endpoint(String, token: String, channel: PushChannelID)
    /// The server has another address than before: no registration but this one has a valid endpoint.
    case addressChanged(except: String)
    /// A registration ends, with the messages that wait for it; the server is to forget its channel. The note says why, for people.
    case unregistered(token: String, note: String)
    /// The server has forgotten a channel.
    case channelEnded(PushChannelID)
    /// An app cannot be reached, for this reason: the messages for it that are to be attempted once end.
    case unreachable(service: String, reason: String)
    /// A message ends with this state.
    case ended(NotificationID, service: String, NotificationState, note: String)
}

/// A message of UnifiedPush that came over the device channel.
package struct ReceivedUnifiedPushMessage: Sendable, Hashable {
    /// The message as the server sent it.
    package var carrier: OutgoingNotification
    /// The subscription, and the encrypted message.
    package var message: ChannelMessage
    /// The number of the session that brought it.
    package var session: Int

    /// A message that came. Each parameter is the property of its name.
    package init(carrier: OutgoingNotification, message: ChannelMessage, session: Int) {
        self.carrier = carrier
        self.message = message
        self.session = session
    }
}

/// The result of a ``UnifiedPushChange``.
package enum UnifiedPushResult: Sendable, Hashable {
    /// The registration is stored.
    case registered(UnifiedPushRegistration)
    /// The endpoint of the registration is stored.
    case endpoint(String, token: String)
    /// The registration has ended.
    case unregistered(token: String)
    /// The server has forgotten a channel.
    case channelEnded
    /// A message waits for the app.
    case stored(service: String)
    /// The end of a message for the app is stored.
    case ended(service: String)
    /// There was nothing to change.
    case nothing
}
