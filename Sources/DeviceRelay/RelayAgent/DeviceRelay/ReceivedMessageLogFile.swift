import CoreValues
import Foundation
import Platform
import RelayProtocol
import Synchronization

/// The record on the disk of the queued messages that this device has taken, and of the attempts at those that it has
/// not, one line each. Thread-safe.
///
/// Guarantees: every message taken is synced to the disk; an attempt is written, and may be lost in a power cut. The
/// file is 0600, and is rewritten without expired records once it has twice as many lines as
/// ``ReceivedMessageLog/limit``. A line that a power cut truncated is ignored.
final class ReceivedMessageLogFile: Sendable {
    /// Why the file cannot be used.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// A line of the file.
    enum Record: Hashable, Sendable {
        /// A message was taken.
        case taken(ReceivedMessage)
        /// A message was given to its app.
        case attempt(DeliveryAttempt)

        fileprivate var until: Int64 {
            switch self {
            case .taken(let message): message.until
            case .attempt(let attempt): attempt.until
            }
        }

        fileprivate var taken: ReceivedMessage? { if case .taken(let message) = self { message } else { nil } }
        fileprivate var attempt: DeliveryAttempt? { if case .attempt(let attempt) = self { attempt } else { nil } }
    }

    private struct State {
        var waiting: [Record] = []
        /// The completion handler, called once for all records of one write.
        var complete: (@Sendable ([ReceivedMessage], Unusable?) -> Void)?
        var isWriting = false
    }

    private let path: String
    private let state = Mutex(State())
    private let lines = Mutex(0)

    /// The file in an agent's data folder.
    init(dataFolder: String) { path = dataFolder + "/relay-letters" }

    /// Reads what is remembered at a moment, the oldest first, and writes the file anew where there is more in it.
    ///
    /// - Returns: The messages that were taken, and the attempts at others.
    /// - Throws: ``Unusable``.
    func read(at now: Timestamp) throws(Unusable) -> (taken: [ReceivedMessage], attempts: [DeliveryAttempt]) {
        guard FileManager.default.fileExists(atPath: path) else { return ([], []) }
        guard let text = FileManager.default.contents(atPath: path) else {
            throw Unusable(description: "\(path) cannot be read")
        }
        let all = text.split(separator: UInt8(ascii: "\n")).map { Self.record(String(decoding: $0, as: UTF8.self)) }
        let taken = Set(all.compactMap { $0?.taken?.key })
        let rest = all.compactMap { $0 }
            .filter { $0.until >= now.rawValue && !($0.attempt.map { taken.contains($0.key) } ?? false) }
            .suffix(ReceivedMessageLog.limit)
        if rest.count != all.count || text.last != UInt8(ascii: "\n") { try write(Array(rest), anew: true) }
        lines.withLock { $0 = rest.count }
        return (rest.compactMap(\.taken), rest.compactMap(\.attempt))
    }

    /// Writes a record. `complete` is called on another thread, with all messages taken of one write.
    func keep(_ record: Record, then complete: @escaping @Sendable ([ReceivedMessage], Unusable?) -> Void) {
        let begins = state.withLock { state in
            state.waiting.append(record)
            state.complete = complete
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { NamedThread.begin("aldaba-messages") { [self] in work() } }
    }

    private func work() {
        while true {
            let next = state.withLock {
                state -> (records: [Record], @Sendable ([ReceivedMessage], Unusable?) -> Void)? in
                guard !state.waiting.isEmpty, let complete = state.complete else {
                    state.isWriting = false
                    return nil
                }
                defer { state.waiting = [] }
                return (state.waiting, complete)
            }
            guard let (records, complete) = next else { return }
            let taken = records.compactMap(\.taken)
            do throws(Unusable) {
                try add(records)
                if !taken.isEmpty { complete(taken, nil) }
            } catch {
                complete(taken, error)
            }
        }
    }

    private func add(_ records: [Record]) throws(Unusable) {
        try write(records, anew: false)
        let count = lines.withLock { count in
            count += records.count
            return count
        }
        guard count > 2 * ReceivedMessageLog.limit else { return }
        _ = try read(at: Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000)))
    }

    private func write(_ records: [Record], anew: Bool) throws(Unusable) {
        let text = records.map { Self.line($0) + "\n" }.joined()
        let isSynced = anew || records.contains { $0.taken != nil }
        let path = anew ? self.path + ".new" : self.path
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (anew ? O_TRUNC : O_APPEND)
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0 else { throw failure() }
        guard bytes.withUnsafeBytes({ Glibc.write(descriptor, $0.baseAddress, $0.count) }) == bytes.count,
            !isSynced || fdatasync(descriptor) == 0
        else {
            let failure = failure()
            // What is written next begins a line.
            _ = ftruncate(descriptor, end)
            throw failure
        }
        guard !anew || rename(path, self.path) == 0 else { throw failure() }
    }

    private func failure() -> Unusable {
        Unusable(description: "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }

    // MARK: Lines

    /// The mark of a line that records an attempt, where other lines have a status.
    private static let attemptWord = "attempt"

    static func line(_ record: Record) -> String {
        let (key, word) =
            switch record {
            case .taken(let message): (message.key, message.status.rawValue)
            case .attempt(let attempt): (attempt.key, attemptWord)
            }
        return "\(record.until) \(key.sender) \(key.id.uuidString) \(word) ."
    }

    /// Reads a line; `nil` for one that was broken off.
    static func record(_ line: String) -> Record? {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 5, words[4] == ".", let until = Int64(words[0]), let id = UUID(uuidString: words[2])
        else { return nil }
        let key = QueuedMessageKey(sender: words[1], id: id)
        if words[3] == attemptWord { return .attempt(DeliveryAttempt(key: key, until: until)) }
        return RelayStatus(rawValue: words[3]).map { .taken(ReceivedMessage(key: key, until: until, status: $0)) }
    }
}
