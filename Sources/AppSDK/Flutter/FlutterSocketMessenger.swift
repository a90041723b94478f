import AppHost
import Foundation
import UIKit

/// A messenger to another program of the same user, over a Unix socket.
///
/// The socket is at `ALDABA_FLUTTER_SOCKET`, or else at `$XDG_RUNTIME_DIR/aldaba/flutter/APP.sock` with the app's
/// bundle id. The host is any program that connects there and uses `ChannelFrame`; the newest connection counts.
@preconcurrency @MainActor
public final class FlutterSocketMessenger: NSObject, FlutterBinaryMessenger {
    /// The messenger of this process, at the path that the environment gives. It listens from its first use on.
    public static let shared = FlutterSocketMessenger(path: ChannelSocket.standardPath())

    private var conversation = ChannelConversation<FlutterBinaryReply?>()
    private var handlers = ChannelHandlers()
    private var host: ChannelConnection?
    /// The hosts' notices that arrived while the app was launching; `nil` when the launch is over.
    private var held: [ChannelConnection.Notice]?
    private var hasLaunched = false

    /// Whether what hosts do is kept for later.
    var isHolding: Bool { held != nil }

    /// Listens at a path. Where that is not possible, the reason is reported on standard error, and no host will ever
    /// connect.
    ///
    /// - Parameter path: The socket's path; `nil` where the environment names none.
    public init(path: String?) {
        super.init()
        guard let path else {
            ChannelSocket.report("neither ALDABA_FLUTTER_SOCKET nor XDG_RUNTIME_DIR is set; no host can connect")
            return
        }
        ChannelSocket.listen(at: path) { [weak self] notice in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.take(notice) } }
        }
    }

    /// Sends a message without a reply.
    public func send(onChannel channel: String, message: Data?) {
        send(onChannel: channel, message: message, binaryReply: nil)
    }

    /// Sends a message; kept for the next host where none is connected.
    public func send(onChannel channel: String, message: Data?, binaryReply callback: FlutterBinaryReply?) {
        let content = message.map { [UInt8]($0) } ?? []
        let (frame, givenUp) = conversation.send(content, on: channel, reply: callback)
        if let frame { host?.send(frame) }
        givenUp??(nil)
    }

    /// Has a handler take the messages on a channel.
    @discardableResult
    public func setMessageHandlerOnChannel(
        _ channel: String, binaryMessageHandler handler: FlutterBinaryMessageHandler?
    ) -> FlutterBinaryMessengerConnection {
        handlers.set(handler, for: channel)
    }

    /// Takes a handler away.
    public func cleanUpConnection(_ connection: FlutterBinaryMessengerConnection) { handlers.remove(connection) }

    /// Keeps what hosts do until the app's launch is over, in which the handlers are set. After that it does nothing.
    func holdUntilLaunched() {
        guard held == nil, !hasLaunched else { return }
        held = []
        _ = NotificationCenter.default.addObserver(
            forName: UIApplication.didFinishLaunchingNotification, object: nil, queue: nil
        ) { [weak self] _ in MainActor.assumeIsolated { self?.release() } }
    }

    private func release() {
        hasLaunched = true
        let notices = held ?? []
        held = nil
        for notice in notices { take(notice) }
    }

    private func take(_ notice: ChannelConnection.Notice) {
        guard held == nil else {
            held?.append(notice)
            return
        }
        switch notice {
        case .opened(let connection):
            endHost()
            host = connection
            for frame in conversation.opened() { connection.send(frame) }
        case .received(let frames, let connection):
            defer { connection.readOn() }
            guard connection === host else { return }
            for frame in frames { take(frame, from: connection) }
        case .ended(let connection):
            if connection === host { endHost() }
        }
    }

    private func endHost() {
        host?.close()
        host = nil
        for reply in conversation.closed() { reply?(nil) }
    }

    private func take(_ frame: ChannelFrame, from connection: ChannelConnection) {
        switch conversation.received(frame) {
        case .message(let number, let channel, let content):
            guard let handler = handlers[channel] else { return connection.send(.reply(number: number, content: [])) }
            var isAnswered = false
            handler(content.isEmpty ? nil : Data(content)) { reply in
                // A second answer would be taken for that to another message.
                guard !isAnswered else { return }
                isAnswered = true
                connection.send(.reply(number: number, content: reply.map { [UInt8]($0) } ?? []))
            }
        case .reply(let reply, let content): reply?(content.isEmpty ? nil : Data(content))
        case nil: break
        }
    }
}
