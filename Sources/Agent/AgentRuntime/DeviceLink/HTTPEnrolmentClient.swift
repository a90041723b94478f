import AgentEngine
import AsyncHTTPClient
import DeviceChannel
import Foundation
import NIOCore
import NIOSSL
import Networking
import PushCore
import WebPushProtocol

/// Enrolment over HTTPS: `POST /checkin` (protobuf) and `POST /c2dm/register3` (form), as the device protocol's own
/// clients do it.
package struct HTTPEnrolmentClient: EnrolmentClient {
    /// Nothing that the server answers here is longer.
    private static let answerLimit = 64 << 10
    private static let timeout = TimeAmount.seconds(15)

    private let client: HTTPClient
    private let url: String
    @Secret private var enrolmentKey: String?

    /// Connects to nothing yet; ends with ``close()``.
    ///
    /// - Parameters:
    ///   - controlURL: The control API's base URL, without a slash at its end.
    ///   - certificateAuthorityFile: A PEM file of the authorities that may sign the server's certificate; `nil` trusts
    ///     the system's.
    ///   - enrolmentKey: Shown to the server when this device enrols.
    /// - Throws: when the authorities' file cannot be read.
    package init(controlURL: String, certificateAuthorityFile: String?, enrolmentKey: String?) throws {
        let tls = try TLSConfiguration.client(certificateAuthorityFile: certificateAuthorityFile)
        var settings = HTTPClient.Configuration(tlsConfiguration: tls)
        settings.redirectConfiguration = .disallow
        // The agent's own back-off decides when to try again.
        settings.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
        url = controlURL
        self.enrolmentKey = enrolmentKey
    }

    /// Ends the client's connections; must be called before it goes.
    package func close() async { try? await client.shutdown() }

    /// `POST /checkin`. A new device shows its enrolment key; a known one that is not known there is
    /// ``EnrolmentError/notAuthenticated``.
    package func checkIn(known: DeviceIdentity?) async throws(EnrolmentError) -> DeviceIdentity {
        var message = MCSCheckinRequest()
        message.version = 3
        message.userSerialNumber = 0
        if let known {
            message.id = Int64(known.device.rawValue)
            message.securityToken = known.secret
        }
        guard let body: [UInt8] = try? message.serializedBytes() else {
            throw .unavailable("the request could not be written")
        }
        var request = HTTPClientRequest(url: url + "/checkin")
        request.headers.add(name: "content-type", value: "application/x-protobuffer")
        if let enrolmentKey { request.headers.add(name: "authorization", value: "Enrol \(enrolmentKey)") }
        request.body = .bytes(body)
        let (status, answer) = try await send(request)
        // 400 and 401 both mean that this id is of no use here, as to every client of the protocol.
        if status == 401 || status == 400 && known != nil { throw .notAuthenticated }
        guard status == 200 else { throw .unavailable("the server answered \(status) to the check-in") }
        guard let answered = try? MCSCheckinResponse(serializedBytes: answer),
            let device = DeviceID(answered.androidID),
            answered.securityToken != 0
        else { throw .unavailable("the server's answer to the check-in has no id and secret") }
        return DeviceIdentity(device: device, secret: answered.securityToken)
    }

    /// `POST /c2dm/register3`. An answer without a token of 64 hexadecimal digits is
    /// ``EnrolmentError/unavailable(_:)``.
    package func register(
        _ identity: DeviceIdentity, topic: Topic, team: TeamID, environment: PushEnvironment,
        encryptionKey: RecipientPublicKey?
    ) async throws(EnrolmentError) -> String {
        let published = encryptionKey.map { "&X-p256dh=\($0.p256dh)&X-auth=\($0.auth)" }
        let answer = try await postForm(
            identity, topic: topic, team: team, environment: environment, further: published ?? "")
        guard let token = answer["token"], token.utf8.count == 64, token.allSatisfy(\.isHexDigit) else {
            throw .unavailable("the server's answer holds no device token")
        }
        return token
    }

    /// `POST /c2dm/register3` with `delete=true`.
    package func unregister(
        _ identity: DeviceIdentity, topic: Topic, team: TeamID, environment: PushEnvironment
    ) async throws(EnrolmentError) {
        _ = try await postForm(identity, topic: topic, team: team, environment: environment, further: "&delete=true")
    }

    /// `POST /c2dm/register3` with `X-gcm.topic`, or `X-broadcast-channel` for a channel, and `delete=true` to leave.
    package func setTopicSubscription(
        _ identity: DeviceIdentity, topic: Topic, token: String, name: String, joins: Bool
    ) async throws(EnrolmentError) {
        if case .channel(let id) = LiveActivityTarget(collapseID: name) {
            // Of the characters of base64, `+` and `=` mean something in a form.
            let value = id.replacing("+", with: "%2B").replacing("=", with: "%3D")
            let form = "app=\(topic)&sender=\(token)&device=\(identity.device)&X-broadcast-channel=\(value)"
            _ = try await post(form + (joins ? "" : "&delete=true"), as: identity)
            return
        }
        // Of the characters that a topic may have, only `%` means something in a form.
        let path = "%2Ftopics%2F" + name.replacing("%", with: "%25")
        let form =
            "app=\(topic)&sender=\(token)&device=\(identity.device)&X-gcm.topic=\(path)&X-scope=\(path)"
            + (joins ? "" : "&delete=true")
        _ = try await post(form, as: identity)
    }

    /// `POST /c2dm/register3` with `X-channel`. An answer whose endpoint is no URL of http or https with at most 1000 bytes is
    /// ``EnrolmentError/refused(_:)``.
    package func registerChannel(
        _ identity: DeviceIdentity, channel: PushChannelID, key: String?
    ) async throws(EnrolmentError) -> String {
        let answer = try await post(Self.form(identity, channel: channel, adding: "sender=\(key ?? "")"), as: identity)
        guard let endpoint = answer["token"], endpoint.utf8.count <= 1000, let url = URL(string: endpoint),
            ["http", "https"].contains(url.scheme), url.host() != nil
        else { throw .refused("the answer holds no endpoint") }
        return endpoint
    }

    /// `POST /c2dm/register3` with `X-channel` and `delete=true`.
    package func endChannel(_ identity: DeviceIdentity, channel: PushChannelID) async throws(EnrolmentError) {
        _ = try await post(Self.form(identity, channel: channel, adding: "delete=true"), as: identity)
    }

    private static func form(
        _ identity: DeviceIdentity, channel: PushChannelID, adding further: String
    ) -> String {
        "app=web-push&device=\(identity.device)&X-channel=\(channel)&\(further)"
    }

    /// Posts a registration's form and reads the answer's `name=value` lines.
    private func postForm(
        _ identity: DeviceIdentity, topic: Topic, team: TeamID, environment: PushEnvironment, further: String
    ) async throws(EnrolmentError) -> [String: String] {
        // Topics, teams, numbers and base64url need no escaping in a form.
        let form =
            "app=\(topic)&sender=\(team)&device=\(identity.device)&X-environment=\(environment.rawValue)" + further
        return try await post(form, as: identity)
    }

    private func post(
        _ form: String, as identity: DeviceIdentity
    ) async throws(EnrolmentError) -> [String: String] {
        var request = HTTPClientRequest(url: url + "/c2dm/register3")
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "authorization", value: "AidLogin \(identity.device):\(identity.secret)")
        request.body = .bytes(Array(form.utf8))
        let (status, body) = try await send(request)
        var answer: [String: String] = [:]
        for line in String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { answer[String(parts[0])] = String(parts[1]) }
        }
        try check(status, answer["Error"])
        return answer
    }

    /// Maps the server's answer to a failure. Errors are retried where the protocol's own clients retry them.
    private func check(_ status: Int, _ error: String?) throws(EnrolmentError) {
        switch error {
        case "AUTHENTICATION_FAILED": throw .notAuthenticated
        case "PHONE_REGISTRATION_ERROR", "InternalServerError", "SERVICE_NOT_AVAILABLE":
            throw .unavailable("the server answered \(error ?? "")")
        case let code?: throw .refused(String(code.prefix(64)))
        case nil where status == 401: throw .notAuthenticated
        case nil where status == 200: break
        case nil: throw .unavailable("the server answered \(status) to the registration")
        }
    }

    private func send(_ request: HTTPClientRequest) async throws(EnrolmentError) -> (Int, [UInt8]) {
        var request = request
        request.method = .POST
        do {
            let response = try await client.execute(request, timeout: Self.timeout)
            let body = try await response.body.collect(upTo: Self.answerLimit)
            return (Int(response.status.code), Array(body.readableBytesView))
        } catch {
            throw .unavailable("\(url): \(ConnectionFault.words(error, host: URL(string: url)?.host ?? url))")
        }
    }
}

extension TLSConfiguration {
    /// A client's configuration that trusts a file's authorities, or the system's.
    ///
    /// The file is read here, so that a missing file is reported at the start and not at the first connection.
    ///
    /// - Throws: when the authorities' file cannot be read.
    static func client(certificateAuthorityFile: String?) throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let certificateAuthorityFile {
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificateAuthorityFile))
        }
        return tls
    }
}
