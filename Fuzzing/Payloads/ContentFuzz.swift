import AgentProtocol
import Foundation

/// What a payload says: no payload may trap its reading, and what was read stays within its ranges.
enum ContentFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let payload = String(decoding: input, as: UTF8.self)
        let content = NotificationContent(payload: payload)
        precondition((0...1).contains(content.relevanceScore), "a relevance out of its range")
        precondition(content.badge.map { $0 >= 0 } ?? true, "a negative badge")
        precondition(content.sound?.volume.map { (0...1).contains($0) } ?? true, "a volume out of its range")
        let shown = content.localized { _ in nil }
        precondition(shown.showsText == content.showsText && !shown.needsLocalization, "a text was lost")
        _ = PayloadDelivery(payload: payload).kind
    }
}
