import FCMProtocol
import Foundation
import PushCore

/// Requests of FCM's API and of chat servers, assertions and access tokens. A message that is read must become content that is one JSON object.
enum FCMFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        if let request = try? FCMRequest(body: bytes) { FCMFuzz.write(request.message) }
        if let notification = try? MatrixNotification(body: bytes) {
            for device in notification.devices {
                FCMFuzz.write(notification.message(for: device))
                precondition((try? JSONValue(object: notification.body(for: device, limit: 4096))) != nil)
            }
        }
        if let push = try? MattermostPush(body: bytes) { FCMFuzz.write(push.fcm) }
        if let push = try? RocketChatPush(body: bytes) { FCMFuzz.write(push.fcm) }
        let text = String(decoding: bytes, as: UTF8.self)
        _ = ServerKeySealer(secrets: [[1]], purpose: .gateway)?.open(text)
        _ = try? ServiceAssertion(text).timeFault(at: Timestamp(seconds: 1_780_000_000))
        _ = AccessTokenSealer(secrets: [[1]])?.open(text)
        _ = ProjectNumber.team(of: text)
    }

    private static func write(_ message: FCMMessage) {
        guard let content = try? message.content() else { return }
        let now = Timestamp(seconds: 1_780_000_000)
        let delivery = FCMDelivery(message, isShown: content.isShown, now: now)
        let written = content.bytes(team: TeamID(rawValue: "ALDABADEMO"), delivery: delivery)
        guard let read = try? JSONValue(object: written) else { fatalError("the content is no JSON object") }
        precondition((read["aps"] != nil) == content.hasAPS)
        precondition(read.bytes == written)
        precondition((0...2_419_200).contains(delivery.timeToLive))
    }
}
