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
    /// Whether a person has stopped the send.
    let isStopped: @Sendable () -> Bool

    /// Sends to devices, and passes each result to a tally. Once a person has stopped it, nothing new is sent, and open
    /// requests get their results.
    func run(_ recipients: [BulkRecipients.Recipient], _ tally: BulkTally) async throws {
        let clock = ContinuousClock()
        var next = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, recipient) in recipients.enumerated() {
                if index >= Self.window { try await group.next() }
                if interval > .zero {
                    try await clock.sleep(until: next)
                    // What a slow server held back is not sent in a burst.
                    next = max(next, clock.now) + interval
                }
                if await tally.isHopeless || isStopped() { break }
                let (client, notification) = (client, notification(recipient))
                group.addTask {
                    let result: Result<APNsResult, APNsSendError>
                    do throws(APNsSendError) {
                        result = .success(try await client.send(notification, to: recipient.token))
                    } catch { result = .failure(error) }
                    // What was not sent when a person stopped has no result.
                    if case .failure(let error) = result, error.cause == .shutDown, !error.mayHaveBeenProcessed {
                        return
                    }
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
    /// The number of results in a row that name a fault of the configuration.
    private var faults = 0
    /// Whether the lines of accepted notifications are retained.
    private let remembersAccepted: Bool
    /// The lines of accepted notifications, where they are retained.
    private(set) var accepted: [BulkResult] = []
    /// The number of devices with each outcome.
    private(set) var counts: [BulkResult.Outcome: Int] = [:]

    /// Creates a tally without results.
    ///
    /// - Parameter expected: The number of results to come.
    init(of expected: Int, file: BulkResultFile?, showsProgress: Bool, remembersAccepted: Bool) {
        (self.expected, self.file, self.showsProgress) = (expected, file, showsProgress)
        self.remembersAccepted = remembersAccepted
    }

    /// Whether the credential, the topic or the request is wrong: nothing was accepted, and every answer says so.
    var isHopeless: Bool { faults >= Self.faultLimit && counts[.accepted] == nil }

    private static let faultLimit = 20

    /// Ends the line of a progress bar that is not full.
    func endProgress() {
        if showsProgress, ended > 0, ended != expected { FileHandle.standardError.write(Data("\n".utf8)) }
    }

    /// Writes the second line of a device, with the state to which its notification has come.
    func addState(_ result: BulkResult) throws { try file?.add(result) }

    /// The number of devices that have a result.
    var count: Int { ended }

    /// Ends the file.
    func close() throws { try file?.close() }

    /// Counts a result and writes it into the file.
    func add(_ result: BulkResult) throws {
        faults = result.isConfigurationFault ? faults + 1 : 0
        counts[result.outcome, default: 0] += 1
        ended += 1
        try file?.add(result)
        if remembersAccepted, result.outcome == .accepted { accepted.append(result) }
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

    /// The payload for a recipient. Values are written as JSON strings are, so that they may have any character; names in a
    /// value are not replaced.
    func payload(for values: [String: String]) -> [UInt8] {
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            result += rest[..<open]
            let inner = rest[rest.index(after: open)...]
            if let close = inner.firstIndex(where: { $0 == "}" || $0 == "{" }), inner[close] == "}",
                let value = values[String(inner[..<close])]
            {
                result += JSONValue.string(value).json.dropFirst().dropLast()
                rest = inner[inner.index(after: close)...]
            } else {
                result.append("{")
                rest = inner
            }
        }
        return Array((result + rest).utf8)
    }
}
