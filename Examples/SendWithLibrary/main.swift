// Sends what standard input says, one JSON object a line, and prints the results as JSON lines:
//
//     echo '{"token": "0123…", "payload": {"aps": {"alert": "Hello"}}}' | SendWithLibrary \
//         --key AuthKey_ABCDE12345.p8 --key-id ABCDE12345 --team TEAM123456 --bundle com.example.app
//
// `--server HOST:PORT` and `--authorities FILE` name another server than Apple's, `--type` another push type, and
// `--deadline SECONDS` another deadline. `--resend yes` sends again what got no answer.
import AldabaAPNs
import Foundation

/// The notification of a line.
struct Line: Decodable {
    let token: String
    let id: UUID?
}

/// The number of notifications that are prepared at a time.
let window = 2000

do {
    let options = try Options(CommandLine.arguments.dropFirst())
    let client = try options.client()
    await withTaskGroup(of: Void.self) { group in
        var running = 0
        while let text = readLine() {
            if running == window {
                await group.next()
                running -= 1
            }
            running += 1
            group.addTask { await send(text, options, client) }
        }
    }
    await client.shutDown()
} catch {
    FileHandle.standardError.write(Data("SendWithLibrary: \(error)\n".utf8))
    exit(1)
}

/// Sends the notification of a line and prints its result.
func send(_ text: String, _ options: Options, _ client: some APNsSending) async {
    let line: Line
    var notification: APNsNotification
    do {
        line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
        notification = try options.notification(text)
    } catch { return show(["error": "\(error)"]) }
    notification.id = line.id
    do { show(fields(try await client.send(notification, to: line.token)), of: line) } catch {
        show(["error": error.cause.rawValue, "mayHaveBeenProcessed": "\(error.mayHaveBeenProcessed)"], of: line)
    }
}

/// The members of a result's line.
func fields(_ result: APNsResult) -> [String: String] {
    switch result {
    case .accepted(let id, _): ["result": "accepted", "id": id.uuidString.lowercased()]
    case .tokenDead(let since): ["result": "tokenDead", "since": since.map { "\($0.timeIntervalSince1970)" } ?? ""]
    case .fixConfiguration(let reason): ["result": "fixConfiguration", "reason": reason.rawValue]
    case .retryAfter(let time, let reason):
        ["result": "retryAfter", "reason": reason.rawValue, "seconds": "\(time.components.seconds)"]
    case .dropped(let reason): ["result": "dropped", "reason": reason.rawValue]
    }
}

/// Prints a line of JSON.
func show(_ fields: [String: String], of line: Line? = nil) {
    var fields = fields
    fields["token"] = line?.token
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // A dictionary of texts is always encoded.
    guard let data = try? encoder.encode(fields) else { return }
    FileHandle.standardOutput.write(data + Data("\n".utf8))
}
