import DeviceChannel
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer
import SwiftProtobuf

/// The route `POST /checkin`: returns an id and a secret for a new device, and a known device's own.
///
/// Accepts the protobuf form (Android, Chromium) and the JSON form (the iOS library); responds in the same.
struct CheckinRoute: Sendable {
    let enrolment: any EnrolmentService
    let admission: EnrolmentAdmission
    let clock: @Sendable () -> Timestamp

    func respond(_ request: Request) async throws -> Response {
        let body = try await request.wholeBody(upTo: FormFields.longest)
        let isJSON = request.headers[.contentType]?.lowercased().hasPrefix("application/json") == true
        let known = isJSON ? try Self.readJSON(body) : try Self.readProtobuf(body)
        // Some libraries cannot send a custom header, but can use another URL.
        let key =
            EnrolmentAdmission.key(ofHeader: request.headers[.authorization])
            ?? request.uri.queryParameters["key"].map { String($0) }
        if known == nil, let refusal = try await admission.refusal(of: key, isCounted: true) {
            throw ControlError.notAuthorized(refusal)
        }
        guard let credentials = try await enrolment.checkIn(known: known) else {
            // A client that receives 401 enrols anew; a blocked device must not.
            if let known, try await admission.isBlocked(known.device) {
                throw ControlError(status: .forbidden, code: "blocked", message: "the device is blocked")
            }
            throw ControlError.notAuthorized("there is no such device, or its security token is another")
        }
        if known != nil || admission.asksForKey { try await RequestScope.prove(.devices) }
        return isJSON ? json(credentials) : try protobuf(credentials)
    }

    /// The credentials that the device sends; `nil` when it is new.
    static func credentials(id: UInt64, token: UInt64) throws -> DeviceCredentials? {
        if id == 0, token == 0 { return nil }
        guard let device = DeviceID(id) else {
            throw ControlError.notAuthorized("there is no such device, or its security token is another")
        }
        return DeviceCredentials(device: device, secret: token)
    }

    private static func readProtobuf(_ body: ByteBuffer) throws -> DeviceCredentials? {
        guard let message = try? MCSCheckinRequest(serializedBytes: Array(body.readableBytesView)) else {
            throw ControlError.invalid("the body is not a checkin request, neither protobuf nor JSON")
        }
        return try credentials(id: UInt64(bitPattern: message.id), token: message.securityToken)
    }

    private static func readJSON(_ body: ByteBuffer) throws -> DeviceCredentials? {
        guard let form = try? JSONDecoder().decode(JSONForm.self, from: Data(body.readableBytesView)) else {
            throw ControlError.invalid("the body is not a JSON object with numbers android_id and security_token")
        }
        let id = form.android_id ?? form.id
        return try credentials(id: id?.value ?? 0, token: form.security_token?.value ?? 0)
    }

    private func protobuf(_ credentials: DeviceCredentials) throws -> Response {
        var message = MCSCheckinResponse()
        message.statsOk = true
        message.timeMsec = clock().rawValue
        message.androidID = credentials.device.rawValue
        message.securityToken = credentials.secret
        message.settingsDiff = false
        let bytes: [UInt8] = try message.serializedBytes()
        return Response(
            status: .ok, headers: [.contentType: "application/x-protobuf", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private func json(_ credentials: DeviceCredentials) -> Response {
        .json(
            JSONAnswer(
                stats_ok: 1, android_id: credentials.device.rawValue, security_token: credentials.secret,
                time_msec: clock().rawValue))
    }

    /// The members of the JSON form, as the iOS library writes them.
    private struct JSONForm: Decodable {
        var android_id: LooseNumber?
        var id: LooseNumber?
        var security_token: LooseNumber?
    }

    private struct JSONAnswer: Encodable {
        var stats_ok: Int
        var android_id: UInt64
        var security_token: UInt64
        var time_msec: Int64
    }
}

/// An integer that may also be a text of digits.
private struct LooseNumber: Decodable {
    var value: UInt64

    init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(UInt64.self) {
            value = number
        } else if let number = UInt64(try container.decode(String.self)) {
            value = number
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a whole number")
        }
    }
}
