import APNsProtocol
import AldabaAPNs
import AldabaConfiguration
import Foundation
import Networking
import PushCore

/// `aldaba send --recipients FILE`.
extension SendCommand {
    func sendInBulk(_ path: String) async throws {
        guard let bytes = try PrivateFile.bytes(path, limit: BulkOptions.fileLimit),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw CommandError(.invalidInput, "--recipients: there is no file \(path) with text in UTF-8")
        }
        let file = BulkRecipients(text)
        let template = PayloadTemplate(try await payloadBytes())
        let topic = try sentTopic(target: nil)
        let faults = (file.faults + payloadFaults(file.recipients, template)).sorted { $0.line < $1.line }
        guard faults.isEmpty else {
            for fault in faults { Terminal.printError("\(path), \(fault)") }
            throw CommandError(.invalidInput, "lines that cannot be used: \(faults.count); nothing was sent")
        }
        let done = try bulk.results.map(BulkResultFile.done) ?? []
        let left = file.recipients.filter { !done.contains($0.token.lowercased()) }
        if dryRun { return Terminal.printError("devices to send to: \(left.count), for \(topic); nothing was sent") }
        let (stopped, client) = (StopFlag(), try makeClient(waitsForConnectivity: true))
        let signals = stopped.watch { client.stop() }
        defer { signals.cancel() }
        let send = BulkSend(
            client: client, notification: try notification(template, topic: topic),
            interval: bulk.rate.map { .seconds(1) / $0 } ?? .zero, isStopped: { stopped.isSet })
        let tally = BulkTally(
            of: left.count, file: try bulk.results.map(BulkResultFile.init),
            showsProgress: !json && isatty(STDERR_FILENO) == 1, remembersAccepted: wait.awaitsTimeline)
        try await send.run(left, tally)
        await client.shutDown()
        await tally.endProgress()
        let states = try await awaitedStates(tally) { stopped.isSet }
        try await tally.close()
        if await tally.isHopeless {
            Terminal.printError("stopped: every answer names a fault of the credential, the topic or the request")
        }
        try show(await tally.counts, skipped: file.recipients.count - left.count, states: states)
        let unsent = left.count - (await tally.count)
        guard !stopped.isSet || unsent == 0 else {
            let remedy = bulk.results == nil ? "" : "; the same command goes on"
            throw CommandError(.partlyDone, "stopped: devices that were not sent to: \(unsent)\(remedy)")
        }
        if stopped.isSet, let states, states.pending > 0 {
            throw CommandError(
                .partlyDone, "stopped: notifications that are not \(states.awaited.rawValue): \(states.pending)")
        }
        try check(await tally.counts, states)
    }

    /// The states to which the accepted notifications have come; `nil` where nothing is waited for.
    private func awaitedStates(
        _ tally: BulkTally, isStopped: @escaping @Sendable () -> Bool
    ) async throws -> BulkStates? {
        guard let state = wait.state, wait.awaitsTimeline else { return nil }
        let (accepted, deadline) = (await tally.accepted, ContinuousClock.now + wait.time)
        return try await watching(for: state) { watch in
            try await BulkStates(of: accepted, watch, isOver: { ContinuousClock.now >= deadline || isStopped() }) {
                try await tally.addState($0)
            }
        }
    }

    /// The lines whose payload no server would accept.
    private func payloadFaults(
        _ recipients: [BulkRecipients.Recipient], _ template: PayloadTemplate
    ) -> [BulkRecipients.Fault] {
        let limit = APNsPayloadLimit.bytes(for: fields.pushType.flatMap(PushType.init))
        return recipients.compactMap { recipient in
            let payload = template.payload(for: recipient.values)
            if payload.count > limit {
                return .init(
                    line: recipient.line,
                    reason: "the payload has \(payload.count) bytes, at most \(limit) are allowed")
            }
            return JSONScanner.scan(ofObject: payload).fault.map {
                .init(line: recipient.line, reason: "the payload is not a JSON object: \($0)")
            }
        }
    }

    private func notification(
        _ template: PayloadTemplate, topic: String
    ) throws -> @Sendable (BulkRecipients.Recipient) -> APNsNotification {
        let type = APNsPushType(rawValue: fields.pushType ?? "alert")
        let suffix = PushType(rawValue: type.rawValue)?.topicSuffix?.description ?? ""
        let bundleID = topic.hasSuffix(suffix) ? String(topic.dropLast(suffix.count)) : topic
        var plain = APNsNotification(pushType: type, bundleID: bundleID, payload: [])
        plain.collapseID = fields.collapseID
        if let text = fields.priority {
            guard let priority = Int(text).flatMap(APNsPriority.init) else {
                throw CommandError(.invalidInput, "--priority: \(text) is not 10, 5 or 1")
            }
            plain.priority = priority
        }
        if let text = fields.expiration {
            guard let seconds = Int64(text), seconds >= 0 else {
                throw CommandError(.invalidInput, "--expiration: \(text) is not seconds since 1970")
            }
            plain.expiration = seconds == 0 ? .once : .until(Date(timeIntervalSince1970: Double(seconds)))
        }
        let model = plain
        return { recipient in
            var one = APNsNotification(
                pushType: type, bundleID: bundleID, payload: template.payload(for: recipient.values))
            (one.collapseID, one.priority, one.expiration) = (model.collapseID, model.priority, model.expiration)
            return one
        }
    }

    private func show(_ counts: [BulkResult.Outcome: Int], skipped: Int, states: BulkStates?) throws {
        if json {
            var all = Dictionary(
                uniqueKeysWithValues: BulkResult.Outcome.allCases.map { ($0.rawValue, counts[$0] ?? 0) })
            all["skipped"] = skipped
            if let states { all[states.awaited.rawValue] = states.reached }
            print(try JSONLine.of(all))
        } else {
            let texts = BulkResult.Outcome.allCases.compactMap { outcome in
                counts[outcome].map { "\($0) \(outcome.words)" }
            }
            let reached = states.map { ["\($0.reached) \($0.awaited.rawValue)"] } ?? []
            let skips = skipped > 0 ? ["\(skipped) left out, since they have an answer"] : []
            print((texts + reached + skips).joined(separator: ", "))
        }
    }

    /// Ends the command if not everything came as far as it was to come.
    private func check(_ counts: [BulkResult.Outcome: Int], _ states: BulkStates?) throws {
        let failed = counts.filter { $0.key != .accepted }.values.reduce(0, +)
        guard failed == 0 else { throw CommandError(.failed, "notifications that were not accepted: \(failed)") }
        guard let states, states.ended + states.pending > 0 else { return }
        throw CommandError(
            states.ended > 0 ? .failed : .timedOut,
            "notifications that are not \(states.awaited.rawValue): \(states.ended + states.pending)")
    }
}

extension BulkResult.Outcome {
    /// The outcome for people, after a number.
    fileprivate var words: String {
        switch self {
        case .accepted: "accepted"
        case .dead: "with a dead token"
        case .refused: "refused"
        case .notSent: "not sent"
        case .unknown: "without an answer"
        }
    }
}
