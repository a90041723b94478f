import Foundation
import RelayHost

/// What other devices did here, and what was asked of them from here, one line of JSON each, for the person to look at; of the agent's thread.
///
/// Guarantees: the file is 0600 and is begun anew at 1 MiB, after which the one before it is kept; no address and no content is in it.
public final class RelayLog: Sendable {
    private static let limit: off_t = 1 << 20
    private let path: String

    /// The log in an agent's data folder.
    public init(dataFolder: String) { path = dataFolder + "/relay-log.jsonl" }

    private struct Line: Codable {
        var at: String
        var device: String
        var name: String?
        var what: String
        var status: String
        /// The command's id, which both devices note.
        var id: String?
        /// The app here that asked it of the other device.
        var asker: String?
    }

    /// Notes something. What cannot be written is lost.
    ///
    /// - Parameters:
    ///   - name: The device's name.
    ///   - now: In milliseconds since 1970.
    public func note(_ entry: RelayLogEntry, name: String?, at now: Int64) {
        let moment = Date(timeIntervalSince1970: Double(now) / 1000)
        let line = Line(
            at: moment.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)), device: entry.device,
            name: name, what: entry.what, status: entry.status.rawValue,
            id: entry.id.map { $0.uuidString.lowercased() }, asker: entry.asker)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var text = try? encoder.encode(line) else { return }
        text.append(UInt8(ascii: "\n"))
        var status = stat()
        if stat(path, &status) == 0, status.st_size > Self.limit { rename(path, path + ".1") }
        let number = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard number >= 0 else { return }
        defer { close(number) }
        _ = text.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
    }

    /// The last lines, the oldest first.
    public func last(_ count: Int) -> [String] {
        let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").suffix(count).map(String.init)
    }
}
