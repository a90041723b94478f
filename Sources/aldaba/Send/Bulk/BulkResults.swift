import AldabaAPNs
import AldabaConfiguration
import Foundation

/// The line of a result in the file of a bulk send.
struct BulkResult: Codable, Hashable, Sendable {
    /// The outcome for a device.
    enum Outcome: String, Codable, Sendable, CaseIterable {
        /// It was accepted.
        case accepted
        /// The token is dead.
        case dead
        /// It was refused for good.
        case refused
        /// It was refused for now, or was not sent.
        case notSent
        /// It may have been accepted.
        case unknown

        /// Whether a later run leaves the device out. What may have been accepted is not sent again, since it could show
        /// twice.
        var isFinal: Bool { self != .notSent }
    }

    var line: Int
    var token: String
    var outcome: Outcome
    var apnsID: String?
    var uniqueID: String?
    var reason: String?
    /// The time since which the token is dead, in seconds since 1970.
    var since: Int?
    /// The latest state of the timeline, in the second line of a device whose notification was waited for.
    var state: String?
    /// Whether the credential, the topic or the request is wrong; not written.
    var isConfigurationFault = false

    private enum CodingKeys: String, CodingKey { case line, token, outcome, apnsID, uniqueID, reason, since, state }

    /// Makes the line of a result.
    init(_ result: Result<APNsResult, APNsSendError>, of recipient: BulkRecipients.Recipient) {
        (line, token) = (recipient.line, recipient.token)
        switch result {
        case .success(.accepted(let id, let unique)):
            (outcome, apnsID, uniqueID) = (.accepted, id.uuidString.lowercased(), unique)
        case .success(.tokenDead(let date)):
            (outcome, since) = (.dead, date.map { Int($0.timeIntervalSince1970) })
        case .success(.dropped(let reason)): (outcome, self.reason) = (.refused, reason.rawValue)
        case .success(.fixConfiguration(let reason)):
            (outcome, self.reason, isConfigurationFault) = (.notSent, reason.rawValue, true)
        case .success(.retryAfter(_, let reason)): (outcome, self.reason) = (.notSent, reason.rawValue)
        case .failure(let error):
            (outcome, reason) = (error.mayHaveBeenProcessed ? .unknown : .notSent, "\(error)")
            apnsID = error.apnsID?.uuidString.lowercased()
        }
    }
}

/// The file with the results of a bulk send, which a later run continues.
struct BulkResultFile {
    private let handle: FileHandle

    /// The tokens whose outcome a file has; none where there is no file.
    ///
    /// - Throws: ``CommandError`` for a file with a line that is no result. A last line that is not whole, as a run leaves it
    ///   whose disk was full, is none.
    static func done(_ path: String) throws -> Set<String> {
        var done: Set<String> = []
        for (index, line) in try lines(path).enumerated() {
            do {
                let result = try JSONDecoder().decode(BulkResult.self, from: Data(line))
                if result.outcome.isFinal { done.insert(result.token.lowercased()) }
            } catch {
                throw CommandError(
                    .invalidInput,
                    "--results: line \(index + 1) of \(path) is no result of `aldaba send`; name a new file")
            }
        }
        return done
    }

    /// The whole lines of a file.
    private static func lines(_ path: String) throws -> [ArraySlice<UInt8>] {
        let bytes = try PrivateFile.bytes(path, limit: BulkOptions.fileLimit) ?? []
        let end = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return bytes[..<end].split(separator: UInt8(ascii: "\n"))
    }

    /// Opens a file behind its last whole line; makes it where there is none.
    ///
    /// - Throws: ``CommandError`` for a file that cannot be written.
    init(_ path: String) throws {
        if access(path, F_OK) != 0 { try PrivateFile.write([], to: path) }
        guard let handle = FileHandle(forUpdatingAtPath: path) else {
            throw CommandError(.invalidInput, "--results: \(path) cannot be written")
        }
        let whole = try Self.lines(path).reduce(0) { max($0, $1.endIndex + 1) }
        try handle.truncate(atOffset: UInt64(whole))
        self.handle = handle
    }

    /// Adds the line of a result.
    func add(_ result: BulkResult) throws { try handle.write(contentsOf: Data((try JSONLine.of(result) + "\n").utf8)) }

    /// Has the disk keep all lines.
    func close() throws {
        try handle.synchronize()
        try handle.close()
    }
}
