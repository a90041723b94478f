import Flutter
import Foundation

/// The other half, in the same process: it answers what the app calls, and calls the app.
@MainActor
final class OtherHalf: NSObject, FlutterBinaryMessenger {
    private(set) var calls: [String] = []
    var answers: [Any?] = []
    private var handlers: [String: FlutterBinaryMessageHandler] = [:]
    private let codec = FlutterStandardMethodCodec.sharedInstance()

    func send(onChannel channel: String, message: Data?) {
        send(onChannel: channel, message: message, binaryReply: nil)
    }

    func send(onChannel channel: String, message: Data?, binaryReply callback: FlutterBinaryReply?) {
        let call = message.flatMap(codec.decodeMethodCall)
        calls.append("\(channel) \(call?.method ?? "?") \(call?.arguments ?? "-")")
        let answer = answers.isEmpty ? nil : answers.removeFirst()
        switch answer {
        case let error as FlutterError: callback?(codec.encodeErrorEnvelope(error))
        case let marker as NSObject where marker === FlutterMethodNotImplemented: callback?(nil)
        default: callback?(codec.encodeSuccessEnvelope(answer))
        }
    }

    func setMessageHandlerOnChannel(
        _ channel: String, binaryMessageHandler handler: FlutterBinaryMessageHandler?
    ) -> FlutterBinaryMessengerConnection {
        handlers[channel] = handler
        return 1
    }

    func cleanUpConnection(_ connection: FlutterBinaryMessengerConnection) {}

    /// What the app answers.
    func call(_ channel: String, _ method: String) -> Any? {
        var answer: Any?
        handlers[channel]?(codec.encode(FlutterMethodCall(methodName: method, arguments: nil))) { [codec] reply in
            answer = reply.map(codec.decodeEnvelope) ?? "nothing"
        }
        return answer
    }
}
