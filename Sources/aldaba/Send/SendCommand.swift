import APNsProtocol
import AgentEngine
import AgentProtocol
import AgentRuntime
import AldabaConfiguration
import ArgumentParser
import Foundation
import NIOPosix
import NIOSSL
import Networking
import PushCore

/// `aldaba send`: a provider's client. It speaks to the server as any other: HTTP/2 over TLS, with a provider token.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send a notification to one device or to many.",
        discussion: """
            EXAMPLES:
              aldaba send --app com.example.todo --title 'Buy milk'      to an app on this machine
              aldaba send --token TOKEN --title Hello --body 'From me'   to a device token
              aldaba send --token TOKEN --payload alert.json             a payload of your own
              aldaba send --app com.example.todo --title Hello --dry-run print the payload, send nothing
              aldaba send --recipients people.csv --title 'Hello {name}' --results sent.jsonl   to many devices
              aldaba send --apple sandbox --key AuthKey_X.p8 --team TEAM --topic com.example.todo --token TOKEN --title Hi
            """)
    @Option(help: "The app's topic (default: that of --app, else the demo app's).") var topic: String?
    @Option(help: "The device token, 64 hexadecimal digits.") var token: String?
    @Option(
        help: ArgumentHelp("Send to this app on this machine: its agent tells the device token.", valueName: "topic"))
    var app: String?
    @Option(help: "The alert's title.") var title: String?
    @Option(help: "The alert's body.") var body: String?
    @Option(
        help: "A picture, sound or movie for the device to show: a file, which is uploaded first, or its https address."
    )
    var image: String?
    @Option(
        help: """
            A file with the whole payload, or - for standard input; an .apns file of Xcode's simulator names its app.
            """)
    var payload: String?
    @Flag(help: "Encrypt the payload here, so that only the device can read it.") var encrypt = false
    @Option(help: "With --encrypt: what is shown where it cannot be opened.") var placeholder = "New notification"
    @Option(
        help: """
            With --encrypt: a file with the device's public key, as `aldaba device encryption-key` prints it; without it \
            the server that runs on the data folder is asked.
            """)
    var encryptionKey: String?
    @OptionGroup var fields: RequestFieldOptions
    @Option(help: "The server as host:port; without it the one that runs on the data folder.") var server: String?
    @Option(help: "The control API's address for --image, https://host:port; without it the data folder's server's.")
    var control: String?
    @Option(help: "The authority of the server's certificate, PEM; without it the data folder's.") var ca: String?
    @Flag(help: "Check the payload and print it; send nothing.") var dryRun = false
    @Flag(help: "Send the payload as it is, without a look at what it means.") var asIs = false
    @OptionGroup var bulk: BulkOptions
    @OptionGroup var apple: AppleOptions
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var agent: AgentOption
    @OptionGroup var signing: SigningOptions

    var location: FolderOption { agent.location }

    func validate() throws {
        let bulkFault = bulk.fault(
            namesDevice: token != nil || app != nil, isEncrypted: encrypt, hasImage: image != nil,
            hasID: fields.id != nil)
        if let bulkFault { throw ValidationError(bulkFault) }
        guard bulk.recipients != nil || (token == nil) != (app == nil) || (token == nil && isSimulatorFile) else {
            throw ValidationError(
                token == nil
                    ? "Name the device: --token TOKEN, or --app TOPIC for an app on this machine"
                    : "--token and --app both name the device: give one of them")
        }
        guard encryptionKey == nil || encrypt else { throw ValidationError("--encryption-key needs --encrypt") }
        let fault = apple.fault(
            topic: topic, isSimulatorFile: isSimulatorFile, app: app, server: server, image: image, signing: signing)
        if let fault { throw ValidationError(fault) }
    }

    func run() async throws {
        if let recipients = bulk.recipients { return try await sendInBulk(recipients) }
        var file = SimulatorPayload(payload: try await payloadBytes(), target: nil)
        if isSimulatorFile { file = try SimulatorPayload(file: file.payload) }
        let payload = file.payload
        let topic = try sentTopic(target: file.target)
        try check(payload)
        warnOfPicture(in: payload)
        let body = encrypt ? try await encrypted(payload, for: deviceToken(target: file.target)) : payload
        if dryRun { return try showUnsent(body, topic: topic) }
        let (host, port) = try address()
        let token = try deviceToken(target: file.target)
        let headers = try headers(host: host, port: port, token: token, topic: topic)
        let identity = try apple.identity()
        // A file of authorities that the environment names is Apple's too, where Aldaba has its name.
        let authority = ca ?? (apple.environment == nil ? location.authority : AppleOptions.namedAuthority)
        let tls: NIOSSLContext
        do { tls = try .http2Client(trustRoots: authority.map { .file($0) } ?? .default, identity: identity) } catch {
            throw CommandError(
                .invalidInput, "\(authority ?? ""): no certificates in PEM; an authority's would be right")
        }
        let response: HTTP2Response
        do {
            let client = try await HTTP2Client.connect(
                host: host, port: port, tls: tls, on: MultiThreadedEventLoopGroup.singleton)
            response = try await client.request(headers: headers, body: body)
            await client.close()
        } catch HTTP2RequestError.timedOut {
            throw CommandError(
                .timedOut, "\(host):\(port) did not answer in time; it may have taken the notification")
        } catch {
            throw CommandError(
                .unreachable,
                "\(ServerAddresses.authority(host, port)) cannot be asked: \(ConnectionFault.commandWords(error, host: host))"
            )
        }
        try await show(response, sent: body)
    }

    /// Whether the payload is a file for Xcode's simulator, which names its app.
    private var isSimulatorFile: Bool { payload?.hasSuffix(".apns") ?? false }

    private func deviceToken(target: String?) throws -> String {
        try token ?? agent.deviceToken(of: app ?? target ?? "")
    }

    func address() throws -> (String, Int) {
        if let environment = apple.environment { return (environment.host, 443) }
        guard let server else {
            let addresses = try location.addresses()
            return (addresses.host, addresses.apnsPort)
        }
        guard let parts = ServerAddresses.parts(ofAuthority: server) else {
            throw CommandError(.invalidInput, "--server: \"\(server)\" is not host:port")
        }
        return parts
    }

    func payloadBytes() async throws -> [UInt8] {
        guard let payload else {
            var alert: [String: String] = [:]
            alert["title"] = title
            alert["body"] = body
            // No extension is asked about a notification without a text.
            if alert.isEmpty, let image { alert["body"] = URL(fileURLWithPath: image).lastPathComponent }
            guard !alert.isEmpty else { throw CommandError(.usage, "give --title, --body, --image or --payload") }
            return Array(
                try JSONLine.of(try await AlertPayload(alert: alert, attachment: uploadedAttachmentURL())).utf8)
        }
        guard title == nil, body == nil, image == nil else {
            throw CommandError(.usage, "--payload is the whole payload; leave --title, --body and --image out")
        }
        if payload == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
        guard let bytes = try PrivateFile.bytes(payload) else {
            throw CommandError(.invalidInput, "--payload: there is no file \(payload)")
        }
        return bytes
    }

    /// Refuses what a server would refuse, or a device pass over, and warns of what shows nothing.
    private func check(_ body: [UInt8]) throws {
        let source = payload == "-" ? "standard input" : payload ?? "the payload"
        if let warning = try PayloadCheck.warning(on: body, from: source, pushType: fields.pushType, asIs: asIs) {
            Terminal.printError("warning: \(warning)")
        }
    }

    /// The answer to `--dry-run`.
    private func showUnsent(_ body: [UInt8], topic: String) throws {
        if json {
            let type = fields.pushType ?? PushType.alert.rawValue
            return print(
                try JSONLine.of([
                    "topic": topic, "pushType": type, "payload": String(decoding: body, as: UTF8.self),
                ]))
        }
        print(TerminalText.lines(String(decoding: body, as: UTF8.self)))
        Terminal.printError("\(body.count) bytes for \(topic), not sent")
    }

    /// The app's topic with the suffix that its push type asks for.
    ///
    /// - Parameter target: The app that the payload's file names.
    func sentTopic(target: String?) throws -> String {
        if isSimulatorFile, topic == nil, app == nil, target == nil {
            throw CommandError(
                .invalidInput,
                "--payload: \(payload ?? "") names no app: it is to have a member \"\(SimulatorPayload.member)\" with the "
                    + "app's bundle id, or give --topic or --app")
        }
        let topic = topic ?? app ?? target ?? DemoApp.topic.rawValue
        guard let suffix = fields.pushType.flatMap(PushType.init)?.topicSuffix?.description, !topic.hasSuffix(suffix)
        else {
            return topic
        }
        return topic + suffix
    }

    private func headers(host: String, port: Int, token: String, topic: String) throws -> HeaderBlock {
        var headers = HeaderBlock()
        headers.append(":method", "POST")
        headers.append(":scheme", "https")
        headers.append(":authority", ServerAddresses.authority(host, port))
        headers.append(":path", "/3/device/\(token)")
        if !apple.hasCertificate { headers.append("authorization", "bearer \(try signing.token(location))") }
        headers.append("apns-topic", topic)
        headers.append("apns-push-type", fields.pushType ?? "alert")
        let optional = [
            ("apns-priority", fields.priority), ("apns-expiration", fields.expiration),
            ("apns-collapse-id", fields.collapseID),
            ("apns-id", fields.id),
        ]
        for (name, value) in optional { if let value { headers.append(name, value) } }
        return headers
    }

    private func show(_ response: HTTP2Response, sent body: [UInt8]) async throws {
        let apnsID = response.header("apns-id") ?? ""
        struct Answer: Decodable { var reason: String }
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body))
        if json {
            let unique = response.header("apns-unique-id")
            print(
                try JSONLine.of(
                    Shown(status: response.status, apnsId: apnsID, apnsUniqueId: unique, reason: answer?.reason)))
        } else {
            print("\(response.status)  apns-id \(apnsID)\(answer.map { "  \($0.reason)" } ?? "")")
            if response.status == 200, apple.environment != nil { print(TerminalText.lines(apple.accepted(response))) }
        }
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
    }
}

/// An alert, which a service extension completes where it has an attachment.
private struct AlertPayload: Encodable {
    var aps: APS
    var attachment: String?

    struct APS: Encodable {
        var alert: [String: String]
        var mutableContent: Int?

        private enum CodingKeys: String, CodingKey {
            case alert
            case mutableContent = "mutable-content"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case aps
        case attachment = "attachment-url"
    }

    init(alert: [String: String], attachment: String?) {
        aps = APS(alert: alert, mutableContent: attachment.map { _ in 1 })
        self.attachment = attachment
    }
}
