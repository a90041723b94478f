import AppHost
import Foundation

// Topics: the agent keeps what is asked, and asks the server until it has answered.
extension Messaging {
    /// The longest name of a topic, in characters.
    static let longestTopic = 900

    /// Joins a topic. A prefix `/topics/` of its name is ignored.
    public func subscribe(toTopic topic: String) { subscribe(toTopic: topic, completion: nil) }

    /// Joins a topic; `completion` is called when the server has done it, or refused.
    @preconcurrency
    public func subscribe(toTopic topic: String, completion: (@Sendable ((any Error)?) -> Void)?) {
        change(topic, joins: true, completion)
    }

    /// Joins a topic.
    public func subscribe(toTopic topic: String) async throws {
        try await Self.asynchronously { subscribe(toTopic: topic, completion: $0) }
    }

    /// Leaves a topic.
    public func unsubscribe(fromTopic topic: String) { unsubscribe(fromTopic: topic, completion: nil) }

    /// Leaves a topic; `completion` is called when the server has done it, or refused.
    @preconcurrency
    public func unsubscribe(fromTopic topic: String, completion: (@Sendable ((any Error)?) -> Void)?) {
        change(topic, joins: false, completion)
    }

    /// Leaves a topic.
    public func unsubscribe(fromTopic topic: String) async throws {
        try await Self.asynchronously { unsubscribe(fromTopic: topic, completion: $0) }
    }

    private func change(_ topic: String, joins: Bool, _ completion: (@Sendable ((any Error)?) -> Void)?) {
        let completion = completion ?? { _ in }
        guard let name = Self.topicName(topic) else {
            return Self.onMain {
                completion(
                    MessagingError(
                        .invalidTopicName, "\"\(topic.prefix(100))\" is no topic: use a-z, A-Z, 0-9 and -_.~%"))
            }
        }
        guard isConfigured(completion: completion) else { return }
        onHost { _, host in
            host.setTopicSubscription(name, joins: joins) { answer in
                Self.onMain { completion(Self.error(answer)) }
            }
        }
    }

    /// The error of an answer; `nil` for a success.
    static func error(_ answer: ChannelAnswer?) -> MessagingError? {
        switch answer {
        case .accepted: nil
        case .refused(let code, let message): MessagingError(upstreamCode: code, message)
        case nil:
            MessagingError(
                .operationInProgress,
                "no agent takes this: the app has no id, another process is the app now, or too much waits already")
        }
    }

    /// The name of a topic without `/topics/`; `nil` where it is not a valid name.
    static func topicName(_ topic: String) -> String? {
        let prefix = "/topics/"
        let name = topic.hasPrefix(prefix) ? String(topic.dropFirst(prefix.count)) : topic
        let isAllowed = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_.~%".utf8.contains(byte)
            }
        }
        return !name.isEmpty && name.utf8.count <= longestTopic && isAllowed ? name : nil
    }
}
