import Foundation

/// Calls methods of the other half of the app by name, and takes its calls.
@preconcurrency @MainActor
public final class FlutterMethodChannel: NSObject {
    private let name: String
    private let messenger: any FlutterBinaryMessenger
    private let codec: any FlutterMethodCodec

    /// A channel with the standard codec.
    public convenience init(name: String, binaryMessenger messenger: any FlutterBinaryMessenger) {
        self.init(name: name, binaryMessenger: messenger, codec: FlutterStandardMethodCodec.sharedInstance())
    }

    /// A channel; both halves must give it the same name and codec.
    public init(name: String, binaryMessenger messenger: any FlutterBinaryMessenger, codec: any FlutterMethodCodec) {
        self.name = name
        self.messenger = messenger
        self.codec = codec
    }

    /// Calls a method without a result.
    public func invokeMethod(_ method: String, arguments: Any?) {
        messenger.send(
            onChannel: name, message: codec.encode(FlutterMethodCall(methodName: method, arguments: arguments)))
    }

    /// Calls a method. The result is called once: with a value, a ``FlutterError``, or ``FlutterMethodNotImplemented``,
    /// also where there is no host that would answer.
    public func invokeMethod(_ method: String, arguments: Any?, result callback: FlutterResult?) {
        guard let callback else { return invokeMethod(method, arguments: arguments) }
        let message = codec.encode(FlutterMethodCall(methodName: method, arguments: arguments))
        messenger.send(onChannel: name, message: message) { [codec] reply in
            callback(reply.map { codec.decodeEnvelope($0) } ?? FlutterMethodNotImplemented)
        }
    }

    /// Has a handler take the calls, in place of an earlier one; `nil` takes it away.
    public func setMethodCallHandler(_ handler: FlutterMethodCallHandler?) {
        guard let handler else {
            messenger.setMessageHandlerOnChannel(name, binaryMessageHandler: nil)
            return
        }
        messenger.setMessageHandlerOnChannel(name) { [codec] message, reply in
            guard let call = message.flatMap({ codec.decodeMethodCall($0) }) else { return reply(nil) }
            handler(call) { result in
                switch result {
                case let marker as FlutterMarker where marker === FlutterMethodNotImplemented: reply(nil)
                case let error as FlutterError: reply(codec.encodeErrorEnvelope(error))
                default: reply(codec.encodeSuccessEnvelope(result))
                }
            }
        }
    }
}

/// Takes the reply to a message.
public typealias FlutterReply = (Any?) -> Void

/// Takes a message, and must call the reply once.
public typealias FlutterMessageHandler = (Any?, @escaping FlutterReply) -> Void

/// Sends messages to the other half of the app, and takes its messages.
@preconcurrency @MainActor
public final class FlutterBasicMessageChannel: NSObject {
    private let name: String
    private let messenger: any FlutterBinaryMessenger
    private let codec: any FlutterMessageCodec

    /// A channel with the standard codec.
    public convenience init(name: String, binaryMessenger messenger: any FlutterBinaryMessenger) {
        self.init(name: name, binaryMessenger: messenger, codec: FlutterStandardMessageCodec.sharedInstance())
    }

    /// A channel; both halves must give it the same name and codec.
    public init(name: String, binaryMessenger messenger: any FlutterBinaryMessenger, codec: any FlutterMessageCodec) {
        self.name = name
        self.messenger = messenger
        self.codec = codec
    }

    /// Sends a message without a reply.
    public func sendMessage(_ message: Any?) { messenger.send(onChannel: name, message: codec.encode(message)) }

    /// Sends a message; the reply is called once.
    public func sendMessage(_ message: Any?, reply callback: FlutterReply?) {
        messenger.send(onChannel: name, message: codec.encode(message)) { [codec] reply in
            callback?(codec.decode(reply))
        }
    }

    /// Has a handler take the messages, in place of an earlier one; `nil` takes it away.
    public func setMessageHandler(_ handler: FlutterMessageHandler?) {
        guard let handler else {
            messenger.setMessageHandlerOnChannel(name, binaryMessageHandler: nil)
            return
        }
        messenger.setMessageHandlerOnChannel(name) { [codec] message, reply in
            handler(codec.decode(message)) { reply(codec.encode($0)) }
        }
    }
}

/// Takes events for the other half: values, a ``FlutterError``, or ``FlutterEndOfEventStream``.
public typealias FlutterEventSink = (Any?) -> Void

/// A source of events.
@preconcurrency @MainActor
public protocol FlutterStreamHandler: NSObjectProtocol {
    /// The other half listens from now on. An error refuses it.
    func onListen(withArguments arguments: Any?, eventSink events: @escaping FlutterEventSink) -> FlutterError?
    /// The other half listens no more.
    func onCancel(withArguments arguments: Any?) -> FlutterError?
}

/// Sends events to the other half of the app while that listens.
@preconcurrency @MainActor
public final class FlutterEventChannel: NSObject {
    private let name: String
    private let messenger: any FlutterBinaryMessenger
    private let codec: any FlutterMethodCodec
    private var isListening = false

    /// A channel with the standard codec.
    public convenience init(name: String, binaryMessenger messenger: any FlutterBinaryMessenger) {
        self.init(name: name, binaryMessenger: messenger, codec: FlutterStandardMethodCodec.sharedInstance())
    }

    /// A channel; both halves must give it the same name and codec.
    public init(name: String, binaryMessenger messenger: any FlutterBinaryMessenger, codec: any FlutterMethodCodec) {
        self.name = name
        self.messenger = messenger
        self.codec = codec
    }

    /// Has a handler give the events, in place of an earlier one; `nil` takes it away.
    public func setStreamHandler(_ handler: (any FlutterStreamHandler)?) {
        guard let handler else {
            messenger.setMessageHandlerOnChannel(name, binaryMessageHandler: nil)
            return
        }
        messenger.setMessageHandlerOnChannel(name) { [weak self] message, reply in
            guard let self, let call = message.flatMap({ codec.decodeMethodCall($0) }) else { return reply(nil) }
            reply(answer(call, handler))
        }
    }

    private func answer(_ call: FlutterMethodCall, _ handler: any FlutterStreamHandler) -> Data? {
        let error: FlutterError?
        switch call.method {
        case "listen":
            if isListening { _ = handler.onCancel(withArguments: nil) }
            error = handler.onListen(withArguments: call.arguments) { [weak self] in self?.send($0) }
            isListening = error == nil
        case "cancel":
            guard isListening else {
                return codec.encodeErrorEnvelope(
                    FlutterError(code: "error", message: "No active stream to cancel", details: nil))
            }
            isListening = false
            error = handler.onCancel(withArguments: call.arguments)
        default: return nil
        }
        return error.map { codec.encodeErrorEnvelope($0) } ?? codec.encodeSuccessEnvelope(nil)
    }

    private func send(_ event: Any?) {
        guard isListening else { return }
        let message: Data? =
            switch event {
            case let marker as FlutterMarker where marker === FlutterEndOfEventStream: nil
            case let error as FlutterError: codec.encodeErrorEnvelope(error)
            default: codec.encodeSuccessEnvelope(event)
            }
        messenger.send(onChannel: name, message: message)
    }
}
