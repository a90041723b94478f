import AldabaAPNs
import Foundation

/// Reminds a person's device, and tells what to do with its token.
func remind(_ token: String, by sender: some APNsSending) async throws -> String {
    let notification = try APNsNotification.alert(
        APNsAlert(title: "Water the plants", body: "The basil first."), bundleID: "com.example.garden",
        custom: ["plant": "basil"])
    switch try await sender.send(notification, to: token) {
    case .accepted(let id, _): return "accepted as \(id)"
    case .tokenDead(let since): return "forget the token, unless it was registered after \(since ?? .now)"
    case .retryAfter(let time, let reason): return "try again in \(time): \(reason)"
    case .fixConfiguration(let reason), .dropped(let reason): return "not sent: \(reason.explanation ?? "\(reason)")"
    }
}

struct Garden {
    static func main() async throws {
        let key = try String(contentsOfFile: "AuthKey_ABCDE12345.p8", encoding: .utf8)
        let client = try APNsClient(credential: .key(pem: key, keyID: "ABCDE12345", teamID: "TEAM123456"))
        for token in CommandLine.arguments.dropFirst() { print(try await remind(token, by: client)) }
        await client.shutDown()
    }
}
