import Foundation

/// Takes the reply to a message; `nil` for an empty one.
public typealias FlutterBinaryReply = (Data?) -> Void

/// Takes a message of the host's, and must call the reply once.
public typealias FlutterBinaryMessageHandler = (Data?, @escaping FlutterBinaryReply) -> Void

/// The number of a handler that was set.
public typealias FlutterBinaryMessengerConnection = Int64

/// Sends messages to the other half of the app, and takes its messages.
@preconcurrency @MainActor
public protocol FlutterBinaryMessenger: NSObjectProtocol {
    /// Sends a message without a reply.
    func send(onChannel channel: String, message: Data?)

    /// Sends a message. The reply is called once, with `nil` where the channel has no handler.
    func send(onChannel channel: String, message: Data?, binaryReply callback: FlutterBinaryReply?)

    /// Has a handler take the messages on a channel, in place of an earlier one; `nil` takes it away.
    @discardableResult
    func setMessageHandlerOnChannel(
        _ channel: String, binaryMessageHandler handler: FlutterBinaryMessageHandler?
    ) -> FlutterBinaryMessengerConnection

    /// Takes a handler away, unless another one has its channel by now.
    func cleanUpConnection(_ connection: FlutterBinaryMessengerConnection)
}

/// The handlers of a messenger by channel.
@MainActor
struct ChannelHandlers {
    private var handlers:
        [String: (connection: FlutterBinaryMessengerConnection, handler: FlutterBinaryMessageHandler)] =
            [:]
    private var last: FlutterBinaryMessengerConnection = 0

    subscript(channel: String) -> FlutterBinaryMessageHandler? { handlers[channel]?.handler }

    mutating func set(
        _ handler: FlutterBinaryMessageHandler?, for channel: String
    ) -> FlutterBinaryMessengerConnection {
        guard let handler else {
            handlers[channel] = nil
            return 0
        }
        last += 1
        handlers[channel] = (last, handler)
        return last
    }

    mutating func remove(_ connection: FlutterBinaryMessengerConnection) {
        if let channel = handlers.first(where: { $0.value.connection == connection })?.key { handlers[channel] = nil }
    }
}
