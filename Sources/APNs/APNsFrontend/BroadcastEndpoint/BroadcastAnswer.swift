import APNsProtocol
import PushCore
import PushServer

/// The answer to a request about broadcast channels that was performed.
struct BroadcastAnswer: Sendable {
    var status: Int
    /// The id of the channel that was created.
    var channel: ChannelID?
    /// A JSON document; empty where the answer has none.
    var body: [UInt8] = []
    /// The message that was accepted.
    var message: NotificationID?
}

extension BroadcastChannels {
    /// Performs a request of an app's team.
    ///
    /// - Returns: The answer, or the reason for which the channel refuses the request.
    /// - Throws: The store's error; nothing was changed then.
    func perform(
        _ request: BroadcastRequest, of app: RegisteredApp, in environment: PushEnvironment
    ) async throws -> Result<BroadcastAnswer, APNsRejection> {
        let place = AppPlace(app: app.id, environment: environment)
        switch request {
        case .create(let policy):
            guard let id = try await create(policy, of: place) else {
                return .failure(
                    APNsRejection(
                        .cannotCreateChannelConfig, note: "\(app.topic) has \(Self.limit) channels, as many as it may"))
            }
            return .success(BroadcastAnswer(status: 201, channel: id))
        case .read(let id):
            guard let channel = try await channel(id, of: place) else { return .failure(Self.missing(id, of: app)) }
            return .success(BroadcastAnswer(status: 200, body: Self.document(of: channel)))
        case .delete(let id):
            guard try await delete(id, of: place) else { return .failure(Self.missing(id, of: app)) }
            return .success(BroadcastAnswer(status: 204))
        case .list:
            let ids = try await channels(of: place).map { JSONValue.string($0.id.description) }
            return .success(
                BroadcastAnswer(status: 200, body: JSONValue.object([.init("channels", .array(ids))]).bytes))
        case .publish(let id, let fields):
            guard let channel = try await channel(id, of: place) else { return .failure(Self.missing(id, of: app)) }
            if channel.policy == .noMessageStored, case .until = fields.expiry {
                return .failure(
                    APNsRejection(
                        .badExpirationDate, note: "the channel stores no message, so apns-expiration must be 0"))
            }
            let message = try await publish(
                fields.payload, to: channel, of: app.team, expiry: fields.expiry, priority: fields.priority)
            return .success(BroadcastAnswer(status: 200, message: message))
        }
    }

    private static func missing(_ id: ChannelID, of app: RegisteredApp) -> APNsRejection {
        APNsRejection(.channelNotRegistered, note: "\(app.topic) has no channel \(id) in this environment")
    }

    private static func document(of channel: BroadcastChannel) -> [UInt8] {
        JSONValue.object([
            .init("message-storage-policy", .number(String(channel.policy.rawValue))),
            .init("push-type", .string(BroadcastRequest.pushType)),
        ]).bytes
    }
}
