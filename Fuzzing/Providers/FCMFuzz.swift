import FCMProtocol
import Foundation
import PushCore

/// Requests of FCM's API, assertions and access tokens. A message that is read must become content that is one JSON object.
enum FCMFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        if let request = try? FCMRequest(body: bytes) { FCMFuzz.write(request.message) }
        let text = String(decoding: bytes, as: UTF8.self)
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
