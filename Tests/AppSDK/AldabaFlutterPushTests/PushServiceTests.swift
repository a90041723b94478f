import AgentProtocol
import Flutter
import Foundation
import Testing

@testable import AldabaFlutterPush
@testable import UserNotifications

@MainActor @Suite struct PushServiceTests {
    private let host = OtherHalf()

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

    @Test("the action of the notification that started the app is kept, and not triggered as well")
    func launch() {
        let service = NotificationActionService(channelPrefix: "p", binaryMessenger: host)
        let started = DeliveredNotification(
            id: 1, identifier: "n", apnsID: "a", topic: "t", date: 0, payload: #"{"aps":{},"action":"action_a"}"#)
        let userInfo = UNNotification.userInfo(of: started)
        #expect(service.take(userInfo, isLaunch: true) == "action_a")
        #expect(service.take(UNNotification(started)) == nil && service.take(userInfo) == nil)
        #expect(host.call("p/notificationaction", "getLaunchAction") as? String == "action_a")
        #expect(host.calls == [])
        var next = started
        next.id = 2
        #expect(service.take(UNNotification(next)) == "action_a")
        #expect(host.calls == ["p/notificationaction triggerAction action_a"])
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
