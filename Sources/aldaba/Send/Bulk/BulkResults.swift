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

    /// Makes the line of a result.
    init(_ result: Result<APNsResult, APNsSendError>, of recipient: BulkRecipients.Recipient) {
        (line, token) = (recipient.line, recipient.token)
        switch result {
        case .success(.accepted(let id, let unique)):
            (outcome, apnsID, uniqueID) = (.accepted, id.uuidString.lowercased(), unique)
        case .success(.tokenDead(let date)):
            (outcome, since) = (.dead, date.map { Int($0.timeIntervalSince1970) })
        case .success(.dropped(let reason)): (outcome, self.reason) = (.refused, reason.rawValue)
        case .success(.fixConfiguration(let reason)), .success(.retryAfter(_, let reason)):
            (outcome, self.reason) = (.notSent, reason.rawValue)
        case .failure(let error):
            (outcome, reason) = (error.mayHaveBeenProcessed ? .unknown : .notSent, "\(error)")
            apnsID = error.apnsID?.uuidString.lowercased()
        }
    }
}

/// The file with the results of a bulk send, which a later run continues.
struct BulkResultFile {
    private let handle: FileHandle

    /// Opens a file, which is made where there is none.
    ///
    /// - Returns: The file, and the tokens whose outcome it has.
    /// - Throws: ``CommandError`` for a file with a line that is no result, or one that cannot be written.
    static func open(_ path: String) throws -> (file: BulkResultFile, done: Set<String>) {
        var done: Set<String> = []
        let known = try PrivateFile.bytes(path) ?? []
        for (index, line) in known.split(separator: UInt8(ascii: "\n")).enumerated() {
            do {
                let result = try JSONDecoder().decode(BulkResult.self, from: Data(line))
                if result.outcome.isFinal { done.insert(result.token.lowercased()) }
            } catch {
                throw CommandError(
                    .invalidInput,
                    "--results: line \(index + 1) of \(path) is no result of `aldaba send`; name a new file")
            }
        }
        if known.isEmpty { try PrivateFile.write([], to: path) }
        guard let handle = FileHandle(forWritingAtPath: path) else {
            throw CommandError(.invalidInput, "--results: \(path) cannot be written")
        }
        try handle.seekToEnd()
        return (BulkResultFile(handle: handle), done)
    }

    /// Adds the line of a result.
    func add(_ result: BulkResult) throws { try handle.write(contentsOf: Data((try JSONLine.of(result) + "\n").utf8)) }
}
