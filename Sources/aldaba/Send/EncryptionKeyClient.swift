import AldabaConfiguration
import AsyncHTTPClient
import Foundation
import NIOCore
import PushCore

/// The public key of an app on a device, as the control API returns it and a file may hold it.
struct PublishedKey: Decodable {
    struct Keys: Decodable {
        var p256dh: String
        var auth: String
    }
    var keys: Keys

    /// - Throws: ``CommandError`` naming the source and the member that is wrong.
    static func read(_ text: Data, from source: String) throws -> RecipientPublicKey {
        guard let published = try? JSONDecoder().decode(PublishedKey.self, from: text) else {
            throw CommandError(
                .invalidInput, "\(source): it must be JSON with the members keys.p256dh and keys.auth")
        }
        do {
            return try RecipientPublicKey(p256dh: published.keys.p256dh, auth: published.keys.auth)
        } catch {
            throw CommandError(.invalidInput, "\(source): \(error)")
        }
    }
}

/// Asks the control API for the public key of a device token's registration.
enum EncryptionKeyClient {
    /// The server's JSON answer.
    ///
    /// - Parameter authority: A file with the authority of the server's certificate; `nil` for the data folder's.
    static func fetch(
        _ token: String, authority: String?, location: FolderOption, signing: SigningOptions
    ) async throws -> Data {
        let addresses = try location.addresses()
        guard let path = token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) else {
            throw CommandError(.invalidInput, "\"\(token)\" is no device token")
        }
        var request = HTTPClientRequest(
            url: "\(addresses.http ?? addresses.control)/v1/registrations/\(path)/encryption-key")
        if addresses.http == nil {
            request.headers.add(name: "authorization", value: "bearer \(try signing.token(location))")
        }
        let (status, body) = try await ControlClient.exchange(request, authority: authority ?? location.authority)
        switch status {
        case 200: return body
        case 401, 403:
            throw CommandError(
                .notAuthorized, "the server does not allow this: \(ControlClient.message(body))")
        case 400..<500:
            throw CommandError(
                .invalidInput, "there is no key for the device token: \(ControlClient.message(body))")
        default: throw CommandError(.failed, "the server answered \(status): \(ControlClient.message(body))")
        }
    }
}
