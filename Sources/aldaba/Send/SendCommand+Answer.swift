import APNsProtocol
import AldabaAPNs
import AldabaConfiguration
import Foundation
import Networking
import PushCore

/// The request of a single send.
struct PreparedPush {
    var token: String
    /// The fields, apart from the credential and the pseudo-header fields.
    var fields: [(name: String, value: String)]
    var body: [UInt8]

    /// The path of the request.
    var path: String { "/3/device/\(token)" }
}

extension SendCommand {
    /// The client of the server that the options name.
    ///
    /// - Throws: ``CommandError`` with the option whose file cannot be used.
    func makeClient(waitsForConnectivity: Bool) throws -> APNsClient {
        let (host, port) = try address()
        // A file of authorities that the environment names is Apple's too, where Aldaba has its name.
        let authority = ca ?? (apple.environment == nil ? location.authority : AppleOptions.namedAuthority)
        var options = APNsOptions()
        options.waitsForConnectivity = waitsForConnectivity
        return try .forCommand(
            credential: try apple.credential() ?? signing.credential(location), host: host, port: port,
            authority: authority, options: options)
    }

    /// Sends the request of a single send.
    ///
    /// - Throws: ``CommandError`` where there is no response.
    func response(to push: PreparedPush, by client: APNsClient) async throws -> HTTP2Response {
        let (host, port) = try address()
        do throws(APNsSendError) {
            return try await client.response(to: push.path, fields: push.fields, body: push.body)
        } catch {
            if error.cause == .deadline, error.mayHaveBeenProcessed {
                throw CommandError(
                    .timedOut, "\(host):\(port) did not answer in time; it may have taken the notification")
            }
            let reason = ConnectionFault.commandWords(error.detail ?? error.cause.rawValue)
            throw CommandError(
                .unreachable, "\(ServerAddresses.authority(host, port)) cannot be asked: \(reason)")
        }
    }

    /// Shows the response, and waits for the state that was asked for.
    ///
    /// - Throws: ``CommandError`` for a refusal, and for a notification that does not come that far.
    func show(_ response: HTTP2Response, sent body: [UInt8]) async throws {
        let apnsID = response.header("apns-id") ?? ""
        struct Answer: Decodable { var reason: String }
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body))
        if !json {
            print("\(response.status)  apns-id \(apnsID)\(answer.map { "  \($0.reason)" } ?? "")")
            if response.status == 200, apple.environment != nil { print(TerminalText.lines(apple.accepted(response))) }
        }
        let begin = ContinuousClock.now
        let waited = response.status == 200 ? try await awaitedResult(apnsID) : nil
        if json {
            let unique = response.header("apns-unique-id")
            let state = waited?.state ?? (response.status == 200 && wait.state == .accepted ? "accepted" : nil)
            print(
                try JSONLine.of(
                    Shown(
                        status: response.status, apnsId: apnsID, apnsUniqueId: unique, reason: answer?.reason,
                        state: state)))
        } else if let waited, waited.progress == .reached {
            let seconds = String(format: "%.1f", (ContinuousClock.now - begin) / .seconds(1))
            print(Terminal.text("\(waited.state) after \(seconds) s"))
        }
        if let waited { try wait.state?.check(waited, within: wait.time) }
        guard response.status != 200 else { return }
        let code: CommandExit =
            switch response.status {
            case 403: .notAuthorized
            case 400..<500: .invalidInput
            default: .failed
            }
        let sentence = answer.flatMap { APNsReason(rawValue: $0.reason) }?.sentence
        let note = await refusalNote(apnsID)
        // The probable intention, with line and column; an encrypted payload cannot be examined.
        let meant = encrypt ? nil : PayloadDiagnosis(body, pushType: fields.pushType.flatMap(PushType.init))
        let words = [answer?.reason ?? "status \(response.status)", sentence, note, meant.map { "\($0)" }]
        let who = apple.environment == nil ? "the server" : "Apple"
        throw CommandError(code, "\(who) refused: \(words.compactMap(\.self).joined(separator: ": "))")
    }

    /// The state to which a notification has come; `nil` where no later one than the acceptance is waited for.
    private func awaitedResult(_ apnsID: String) async throws -> TimelineWatch.Result? {
        guard let state = wait.state, wait.awaitsTimeline else { return nil }
        let deadline = ContinuousClock.now + wait.time
        return try await watching(for: state) { try await $0.result(of: apnsID, until: deadline) }
    }

    /// Reads timelines of the server with a client that lives so long.
    func watching<Value>(for state: AwaitedState, _ body: (TimelineWatch) async throws -> Value) async throws -> Value {
        var asked = ServerOption()
        (asked.server, asked.ca, asked.location) = (control, ca, location)
        let client = try ControlClient.make(authority: asked.authority)
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await body(TimelineWatch(awaited: state, server: asked, signing: signing, client: client)))
        } catch { result = .failure(error) }
        // What was read has been read.
        try? await client.shutdown()
        return try result.get()
    }

    /// The timeline's note on why a notification was refused; `nil` where there is none, or the timeline is
    /// unreachable.
    private func refusalNote(_ apnsID: String) async -> String? {
        // Another server than the data folder's has its timelines elsewhere.
        guard server == nil, apple.environment == nil, !apnsID.isEmpty else { return nil }
        var asked = ServerOption()
        (asked.server, asked.ca, asked.location) = (nil, ca, location)
        let request = NotificationsRequest(id: apnsID, server: asked, signing: signing)
        guard let body = try? await request.answer(to: .timelines) else { return nil }
        let found = try? JSONDecoder().decode([Told].self, from: body)
        return found?.last?.timeline.last?.note
    }

    private struct Told: Decodable {
        struct Entry: Decodable { var note: String? }
        var timeline: [Entry]
    }

    private struct Shown: Encodable {
        var status: Int
        var apnsId: String
        /// The id by which the Push Notifications Console finds a push of the sandbox.
        var apnsUniqueId: String?
        var reason: String?
        /// The latest state, where one was waited for.
        var state: String?
    }
}
