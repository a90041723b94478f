import Foundation
import PushServer

/// Conditions over topics: none may trap, what cannot be read is pointed at within the text, and what a store keeps of a
/// condition means the same.
enum ConditionFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let text = String(decoding: input, as: UTF8.self)
        _ = Audience(text: text)
        let condition: TopicCondition
        do throws(ConditionError) { condition = try TopicCondition(parsing: text) } catch {
            precondition((1...text.count + 1).contains(error.position), "points beyond the text")
            return
        }
        let topics = condition.topics
        precondition((1...TopicCondition.topicLimit).contains(topics.count), "too many topics")
        let audience = Audience.topics(
            condition.map { TopicNumber(rawValue: Int64(topics.firstIndex(of: $0) ?? 0) + 1) })
        guard case .topics(let kept, _)? = Audience(text: audience.text) else {
            preconditionFailure("what was kept cannot be read")
        }
        for chosen in 0..<(1 << topics.count) {
            let asKept = kept.matches { chosen >> ($0.rawValue - 1) & 1 == 1 }
            let asWritten = condition.matches { topic in
                guard let place = topics.firstIndex(of: topic) else { return false }
                return chosen >> place & 1 == 1
            }
            precondition(asKept == asWritten, "means something else")
        }
    }
}
