import CoreValues
import Foundation
import Platform
import RelayProtocol
import Synchronization

/// The record on the disk of the queued messages that this device has taken, one line each. Thread-safe.
///
/// Guarantees: every record is synced to the disk. The file is 0600, and is rewritten without expired records once it
/// has twice as many lines as ``ReceivedMessageLog/limit``. A line that a power cut truncated is ignored.
final class ReceivedMessageLogFile: Sendable {
    /// Why the file cannot be used.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var waiting: [ReceivedMessage] = []
        /// The completion handler, called once for all messages of one write.
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
    /// - Throws: ``Unusable``.
    func read(at now: Timestamp) throws(Unusable) -> [ReceivedMessage] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        guard let text = FileManager.default.contents(atPath: path) else {
            throw Unusable(description: "\(path) cannot be read")
        }
        let all = text.split(separator: UInt8(ascii: "\n")).map {
            Self.queuedMessage(String(decoding: $0, as: UTF8.self))
        }
        let rest = all.compactMap { $0 }.filter { $0.until >= now.rawValue }.suffix(ReceivedMessageLog.limit)
        if rest.count != all.count || text.last != UInt8(ascii: "\n") { try write(Array(rest), anew: true) }
        lines.withLock { $0 = rest.count }
        return Array(rest)
    }

    /// Records that a message was taken. `complete` is called on another thread, with all messages of one write.
    func keep(
        _ queuedMessage: ReceivedMessage, then complete: @escaping @Sendable ([ReceivedMessage], Unusable?) -> Void
    ) {
        let begins = state.withLock { state in
            state.waiting.append(queuedMessage)
            state.complete = complete
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { NamedThread.begin("aldaba-messages") { [self] in work() } }
    }

    private func work() {
        while true {
            let next = state.withLock {
                state -> (queuedMessages: [ReceivedMessage], @Sendable ([ReceivedMessage], Unusable?) -> Void)? in
                guard !state.waiting.isEmpty, let complete = state.complete else {
                    state.isWriting = false
                    return nil
                }
                defer { state.waiting = [] }
                return (state.waiting, complete)
            }
            guard let (queuedMessages, complete) = next else { return }
            do throws(Unusable) {
                try add(queuedMessages)
                complete(queuedMessages, nil)
            } catch {
                complete(queuedMessages, error)
            }
        }
    }

    private func add(_ queuedMessages: [ReceivedMessage]) throws(Unusable) {
        try write(queuedMessages, anew: false)
        let count = lines.withLock { count in
            count += queuedMessages.count
            return count
        }
        guard count > 2 * ReceivedMessageLog.limit else { return }
        _ = try read(at: Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000)))
    }

    private func write(_ queuedMessages: [ReceivedMessage], anew: Bool) throws(Unusable) {
        let text = queuedMessages.map { Self.line($0) + "\n" }.joined()
        let path = anew ? self.path + ".new" : self.path
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (anew ? O_TRUNC : O_APPEND)
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0 else { throw failure() }
        guard bytes.withUnsafeBytes({ Glibc.write(descriptor, $0.baseAddress, $0.count) }) == bytes.count,
            fdatasync(descriptor) == 0
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

    static func line(_ queuedMessage: ReceivedMessage) -> String {
        "\(queuedMessage.until) \(queuedMessage.key.sender) \(queuedMessage.key.id.uuidString) \(queuedMessage.status.rawValue) ."
    }

    /// Reads a line; `nil` for one that was broken off.
    static func queuedMessage(_ line: String) -> ReceivedMessage? {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 5, words[4] == ".", let until = Int64(words[0]), let id = UUID(uuidString: words[2]),
            let status = RelayStatus(rawValue: words[3])
        else { return nil }
        return ReceivedMessage(key: QueuedMessageKey(sender: words[1], id: id), until: until, status: status)
    }
}
