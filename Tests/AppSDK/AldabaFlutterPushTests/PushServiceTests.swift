import Flutter
import Foundation
import Testing

@testable import AldabaFlutterPush

/// The other half, in the same process: it answers what the app calls, and calls the app.
@MainActor
private final class Host: NSObject, FlutterBinaryMessenger {
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

@MainActor @Suite struct PushServiceTests {
    private let host = Host()

    @Test("the installation is told: id, token once there is one, platform")
    func installation() {
        let service = DeviceInstallationService(channelPrefix: "p", binaryMessenger: host) { "device-1" }
        let channel = "p/deviceinstallation"
        #expect(host.call(channel, "getDeviceId") as? String == "device-1")
        #expect(host.call(channel, "getDevicePlatform") as? String == "apns")
        #expect((host.call(channel, "getDeviceToken") as? FlutterError)?.code == "UNAVAILABLE")
        service.token = Data([0x0A, 0xFF])
        #expect(host.call(channel, "getDeviceToken") as? String == "0aff")
        #expect(host.call(channel, "getBattery") as? String == "nothing")
    }

    @Test("a launch action is told once")
    func launchAction() {
        let service = NotificationActionService(channelPrefix: "p", binaryMessenger: host)
        #expect(service.take(["action": "action_a"], isLaunch: true) == "action_a")
        #expect(host.call("p/notificationaction", "getLaunchAction") as? String == "action_a")
        #expect(host.call("p/notificationaction", "getLaunchAction") == nil)
        #expect(host.calls.isEmpty)
    }

    @Test("the action of what comes while the app runs is triggered; what has none triggers nothing")
    func trigger() {
        let service = NotificationActionService(channelPrefix: "p", binaryMessenger: host)
        #expect(service.take(["action": "action_b"]) == "action_b")
        #expect(service.take(["aps": "x"]) == nil)
        #expect(service.take(["action": ""]) == nil)
        #expect(host.calls == ["p/notificationaction triggerAction action_b"])
    }

    @Test("a refresh that fails is tried again, later each time, until it succeeds")
    func refresh() async {
        host.answers = [
            FlutterError(code: "x", message: nil, details: nil), FlutterMethodNotImplemented,
            FlutterError(code: "x", message: nil, details: nil), nil,
        ]
        var pauses: [Duration] = []
        await withCheckedContinuation { done in
            let service = NotificationRegistrationService(channelPrefix: "p", binaryMessenger: host) { pause in
                pauses.append(pause)
                if pauses.count == 3 { Task { done.resume() } }
            }
            service.refreshRegistration()
            service.refreshRegistration()
            kept = service
        }
        while host.calls.count < 4 { await Task.yield() }
        #expect(pauses == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(host.calls == Array(repeating: "p/notificationregistration refreshRegistration -", count: 4))
    }
}

@MainActor private var kept: NotificationRegistrationService?
