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
        let send = BulkSend(
            client: try bulkClient(), notification: try notification(template, topic: topic),
            interval: bulk.rate.map { .seconds(1) / $0 } ?? .zero)
        let tally = BulkTally(
            of: left.count, file: try bulk.results.map(BulkResultFile.init),
            showsProgress: !json && isatty(STDERR_FILENO) == 1)
        try await send.run(left, tally)
        await send.client.shutDown()
        if await tally.isHopeless {
            Terminal.printError("stopped: every answer names a fault of the credential, the topic or the request")
        }
        try show(await tally.counts, skipped: file.recipients.count - left.count)
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

    private func bulkClient() throws -> APNsClient {
        let (host, port) = try address()
        let authority = ca ?? (apple.environment == nil ? location.authority : AppleOptions.namedAuthority)
        let authorities = try authority.map { path in
            guard let bytes = try PrivateFile.bytes(path) else {
                throw CommandError(.invalidInput, "there is no file of authorities \(path)")
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        do {
            return try APNsClient(
                credential: try apple.credential() ?? signing.credential(location),
                server: APNsServer(host: host, port: port, authorities: authorities))
        } catch let fault as APNsCredential.Fault { throw CommandError(.invalidInput, "\(fault)") }
    }

    private func show(_ counts: [BulkResult.Outcome: Int], skipped: Int) throws {
        let failed = counts.filter { $0.key != .accepted }.values.reduce(0, +)
        if json {
            var all = Dictionary(
                uniqueKeysWithValues: BulkResult.Outcome.allCases.map { ($0.rawValue, counts[$0] ?? 0) })
            all["skipped"] = skipped
            print(try JSONLine.of(all))
        } else {
            let texts = BulkResult.Outcome.allCases.compactMap { outcome in
                counts[outcome].map { "\($0) \(outcome.words)" }
            }
            print(
                (texts + (skipped > 0 ? ["\(skipped) left out, since they have an answer"] : [])).joined(
                    separator: ", "))
        }
        guard failed == 0 else { throw CommandError(.failed, "notifications that were not accepted: \(failed)") }
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
