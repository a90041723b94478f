import APNsProtocol
import AldabaAPNs
import AldabaConfiguration
import Foundation
import PushCore

/// A send to many devices.
struct BulkSend {
    /// The number of notifications that are prepared at a time.
    private static let window = 2_000

    let client: APNsClient
    let notification: @Sendable (BulkRecipients.Recipient) -> APNsNotification
    /// The time between two notifications; zero for no limit.
    let interval: Duration

    /// Sends to devices, and passes each result to a tally.
    func run(_ recipients: [BulkRecipients.Recipient], _ tally: BulkTally) async throws {
        let clock = ContinuousClock()
        let begin = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, recipient) in recipients.enumerated() {
                if index >= Self.window { try await group.next() }
                if interval > .zero { try await clock.sleep(until: begin + interval * index) }
                let (client, notification) = (client, notification(recipient))
                group.addTask {
                    let result: Result<APNsResult, APNsSendError>
                    do throws(APNsSendError) {
                        result = .success(try await client.send(notification, to: recipient.token))
                    } catch { result = .failure(error) }
                    try await tally.add(BulkResult(result, of: recipient))
                }
            }
            try await group.waitForAll()
        }
    }
}

/// The results of a send to many devices, written as they come.
actor BulkTally {
    private let file: BulkResultFile?
    private let expected: Int
    /// Whether the progress is shown at a terminal.
    private let showsProgress: Bool
    private var ended = 0
    /// The number of devices with each outcome.
    private(set) var counts: [BulkResult.Outcome: Int] = [:]

    /// Creates a tally without results.
    ///
    /// - Parameter expected: The number of results to come.
    init(of expected: Int, file: BulkResultFile?, showsProgress: Bool) {
        (self.expected, self.file, self.showsProgress) = (expected, file, showsProgress)
    }

    /// Counts a result and writes it into the file.
    func add(_ result: BulkResult) throws {
        counts[result.outcome, default: 0] += 1
        ended += 1
        try file?.add(result)
        // A terminal is not written to for each of many thousands.
        if showsProgress, ended == expected || ended.isMultiple(of: max(1, expected / 200)) { show() }
    }

    private func show() {
        let width = 30 * ended / max(1, expected)
        let bar = String(repeating: "=", count: width) + String(repeating: " ", count: 30 - width)
        let end = ended == expected ? "\n" : ""
        let text = "\r[\(bar)] \(ended)/\(expected)  \(counts[.accepted] ?? 0) accepted\(end)"
        FileHandle.standardError.write(Data(text.utf8))
    }
}

/// A payload in which names in braces stand for the values of a recipient: a value.
struct PayloadTemplate: Sendable {
    private let text: String

    init(_ payload: [UInt8]) { text = String(decoding: payload, as: UTF8.self) }

    /// The payload for a recipient. Values are written as JSON strings are, so that they may have any character.
    func payload(for values: [String: String]) -> [UInt8] {
        var result = text
        for (name, value) in values where result.contains("{\(name)}") {
            let quoted = JSONValue.string(value).json
            result.replace("{\(name)}", with: quoted.dropFirst().dropLast())
        }
        return Array(result.utf8)
    }
}
