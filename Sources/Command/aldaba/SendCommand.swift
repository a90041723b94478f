import APNsWire
import ArgumentParser
import CommandCore
import DeviceStore
import Foundation
import HTTP2Transport
import HTTPWire
import NIOPosix
import NIOSSL
import PushModel

/// `aldaba send`: a provider's client. It speaks to the server as any other: HTTP/2 over TLS, with a provider token.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "send", abstract: "Send one notification.")
    @Option(help: "The app's topic.") var topic = DemoApp.topic.rawValue
    @Option(help: "The device token, 64 hexadecimal digits.") var token: String
    @Option(help: "The alert's title.") var title: String?
    @Option(help: "The alert's body.") var body: String?
    @Option(help: "A file with the whole payload, or - for standard input.") var payload: String?
    @Option(help: "apns-priority: 10, 5 or 1.") var priority: String?
    @Option(help: "apns-push-type; a suffix that it asks for is added to the topic.") var pushType: String?
    @Option(help: "apns-expiration: seconds since 1970, or 0 for one attempt.") var expiration: String?
    @Option(help: "apns-collapse-id.") var collapseID: String?
    @Option(help: "apns-id, a UUID.") var id: String?
    @Option(help: "The server as host:port; without it the one that runs on the data folder.") var server: String?
    @Option(help: "The authority of the server's certificate, PEM; without it the data folder's.") var ca: String?
    @Flag(help: "Print one JSON object.") var json = false
    @OptionGroup var location: FolderOption
    @OptionGroup var signing: SigningOptions

    func run() async throws {
        let (host, port) = try address()
        let body = try payloadBytes()
        let headers = try headers(host: host, port: port)
        let roots: NIOSSLTrustRoots = (ca ?? location.authority).map { .file($0) } ?? .default
        let tls: NIOSSLContext
        do { tls = try .http2Client(trustRoots: roots) } catch {
            throw CommandFailure(.invalidInput, "\(ca ?? location.authority ?? ""): no certificates in PEM: \(error)")
        }
        let response: HTTP2Response
        do {
            let client = try await HTTP2Client.connect(
                host: host, port: port, tls: tls, on: MultiThreadedEventLoopGroup.singleton)
            response = try await client.request(headers: headers, body: body)
            await client.close()
        } catch HTTP2RequestError.timedOut {
            throw CommandFailure(
                .timedOut, "\(host):\(port) did not answer in time; it may have taken the notification")
        } catch {
            throw CommandFailure(.unreachable, "\(host):\(port) does not answer: \(error); does the server run?")
        }
        try show(response)
    }

    private func address() throws -> (String, Int) {
        guard let server else {
            let addresses = try location.addresses()
            return (addresses.host, addresses.apnsPort)
        }
        guard let parts = ServerAddresses.parts(ofAuthority: server) else {
            throw CommandFailure(.invalidInput, "--server: \"\(server)\" is not host:port")
        }
        return parts
    }

    private func payloadBytes() throws -> [UInt8] {
        guard let payload else {
            var alert: [String: String] = [:]
            alert["title"] = title
            alert["body"] = body
            guard !alert.isEmpty else { throw CommandFailure(.usage, "give --title, --body or --payload") }
            return Array(try JSONLine.of(["aps": ["alert": alert]]).utf8)
        }
        guard title == nil, body == nil else {
            throw CommandFailure(.usage, "--payload is the whole payload; leave --title and --body out")
        }
        if payload == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
        guard let bytes = try PrivateFile.bytes(payload) else {
            throw CommandFailure(.invalidInput, "--payload: there is no file \(payload)")
        }
        return bytes
    }

    /// The app's topic with the suffix that its push type asks for.
    private var sentTopic: String {
        guard let suffix = pushType.flatMap(PushType.init)?.topicSuffix?.description, !topic.hasSuffix(suffix) else {
            return topic
        }
        return topic + suffix
    }

    private func headers(host: String, port: Int) throws -> HeaderBlock {
        var headers = HeaderBlock()
        headers.append(":method", "POST")
        headers.append(":scheme", "https")
        headers.append(":authority", ServerAddresses.authority(host, port))
        headers.append(":path", "/3/device/\(token)")
        headers.append("authorization", "bearer \(try signing.token(location))")
        headers.append("apns-topic", sentTopic)
        headers.append("apns-push-type", pushType ?? "alert")
        let optional = [
            ("apns-priority", priority), ("apns-expiration", expiration), ("apns-collapse-id", collapseID),
            ("apns-id", id),
        ]
        for (name, value) in optional { if let value { headers.append(name, value) } }
        return headers
    }

    private func show(_ response: HTTP2Response) throws {
        let apnsID = response.header("apns-id") ?? ""
        struct Answer: Decodable { var reason: String }
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(response.body))
        if json {
            var members = ["status": "\(response.status)", "apnsId": apnsID]
            members["reason"] = answer?.reason
            print(try JSONLine.of(members))
        } else {
            print("\(response.status)  apns-id \(apnsID)\(answer.map { "  \($0.reason)" } ?? "")")
        }
        guard response.status != 200 else { return }
        let code: CommandExit =
            switch response.status {
            case 403: .notAuthorized
            case 400..<500: .invalidInput
            default: .failed
            }
        let sentence = answer.flatMap { APNsReason(rawValue: $0.reason) }?.sentence
        throw CommandFailure(
            code,
            "the server refused: \(answer?.reason ?? "status \(response.status)")\(sentence.map { ": \($0)" } ?? "")")
    }
}
