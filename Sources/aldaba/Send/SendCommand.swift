import APNsProtocol
import AgentProtocol
import AldabaConfiguration
import ArgumentParser
import Foundation
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
              aldaba send --app com.example.todo --title Hello --wait presented   until it is on the screen
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
    @Option(
        help: """
            The control API's address for --image and --wait, https://host:port; without it the data folder's server's.
            """)
    var control: String?
    @Option(help: "The authority of the server's certificate, PEM; without it the data folder's.") var ca: String?
    @Flag(help: "Check the payload and print it; send nothing.") var dryRun = false
    @Flag(help: "Print a command of curl that sends the same; send nothing.") var curl = false
    @Flag(help: "Send the payload as it is, without a look at what it means.") var asIs = false
    @OptionGroup var wait: WaitOptions
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
        if curl, dryRun || bulk.recipients != nil { throw ValidationError("--curl is for one notification") }
        let waitFault = wait.fault(
            isSent: !dryRun && !curl, isForApple: apple.environment != nil, hasOtherServer: server != nil,
            hasControl: control != nil)
        if let waitFault { throw ValidationError(waitFault) }
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
        let push = PreparedPush(
            token: try deviceToken(target: file.target), fields: requestFields(topic: topic), body: body)
        if curl { return print(try curlLine(push)) }
        let client = try makeClient(waitsForConnectivity: false)
        let response = try await response(to: push, by: client)
        await client.shutDown(grace: .zero)
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

    /// The fields of the request, apart from the credential.
    private func requestFields(topic: String) -> [(name: String, value: String)] {
        let optional = [
            ("apns-priority", fields.priority), ("apns-expiration", fields.expiration),
            ("apns-collapse-id", fields.collapseID), ("apns-id", fields.id),
        ]
        let given = optional.compactMap { name, value in value.map { (name: name, value: $0) } }
        return [("apns-topic", topic), ("apns-push-type", fields.pushType ?? "alert")] + given
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
