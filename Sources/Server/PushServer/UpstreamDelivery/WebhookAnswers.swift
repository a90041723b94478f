import PushCore
import Synchronization

/// The last answers of webhooks, by their addresses; in memory alone. Thread-safe.
package final class WebhookAnswers: Sendable {
    /// An answer of a webhook, or the reason why there was none.
    package struct Answer: Encodable, Hashable, Sendable {
        /// ISO 8601.
        package var at: String
        /// The status of the answer; `nil` where the address was not reached.
        package var status: Int?
        /// The reason why the address was not reached.
        package var fault: String?
    }

    /// The answers of an address in the form of the API, the newest first.
    package struct List: Encodable, Sendable {
        /// The answers, the newest first.
        package var answers: [Answer]
    }

    private static let mostAddresses = 1000
    private static let mostOfAddress = 10

    private let answers = Mutex<[String: [Answer]]>([:])

    /// Creates a memory without answers.
    package init() {}

    /// The answers of an address.
    package func list(of address: String) -> List {
        let key = (try? WebhookAddress(address))?.description ?? address
        return List(answers: answers.withLock { $0[key] ?? [] })
    }

    fileprivate func note(_ answer: Answer, of address: WebhookAddress) {
        answers.withLock { answers in
            let key = address.description
            if answers[key] == nil, answers.count >= Self.mostAddresses,
                let oldest = answers.min(by: { ($0.value.first?.at ?? "") < ($1.value.first?.at ?? "") })
            {
                answers[oldest.key] = nil
            }
            answers[key] = Array(([answer] + (answers[key] ?? [])).prefix(Self.mostOfAddress))
        }
    }
}

/// Sends to webhooks by another sender, and remembers their answers.
package struct RememberingWebhookSender: WebhookSender {
    private let base: any WebhookSender
    private let answers: WebhookAnswers
    private let clock: @Sendable () -> Timestamp

    /// Creates an instance from its properties.
    package init(_ base: any WebhookSender, answers: WebhookAnswers, clock: @escaping @Sendable () -> Timestamp) {
        self.base = base
        self.answers = answers
        self.clock = clock
    }

    /// Sends by the other sender.
    package func send(_ body: [UInt8], signature: String, to address: WebhookAddress) async throws -> Int {
        do {
            let status = try await base.send(body, signature: signature, to: address)
            answers.note(.init(at: clock().description, status: status), of: address)
            return status
        } catch {
            answers.note(.init(at: clock().description, fault: "\(error)"), of: address)
            throw error
        }
    }
}
