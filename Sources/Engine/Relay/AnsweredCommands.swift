import Foundation

/// The commands that a device has taken from others, so that one which comes twice is carried out once: a value.
///
/// An id is remembered for ten minutes; at most 1,024 of them, and 4 MiB of answers.
public struct AnsweredCommands: Sendable {
    /// How long an id is remembered, in milliseconds.
    public static let age: Int64 = 600_000
    /// How many ids are remembered.
    public static let limit = 1024
    /// How many bytes of answers are kept.
    public static let answerLimit = 4 << 20

    /// What is known of a command that comes.
    public enum Arrival: Hashable, Sendable {
        /// It is new: it is to be carried out.
        case new
        /// It came before, and is being carried out.
        case underWay
        /// It was carried out, with this answer; `nil` where that is not kept any more.
        case answered([UInt8]?)
    }

    private struct Key: Hashable {
        var device: String
        var id: UUID
    }

    private struct Entry {
        var at: Int64
        var isAnswered = false
        var answer: [UInt8]?
    }

    private var entries: [Key: Entry] = [:]
    /// By arrival.
    private var order: [Key] = []
    /// Those whose answers are kept, the oldest first.
    private var kept: [Key] = []
    private var size = 0

    /// Nothing has come.
    public init() {}

    /// A command has come.
    public mutating func arrive(_ id: UUID, from device: String, at now: Int64) -> Arrival {
        let key = Key(device: device, id: id)
        if let entry = entries[key], entry.at > now - Self.age {
            return entry.isAnswered ? .answered(entry.answer) : .underWay
        }
        forget(before: now - Self.age)
        entries[key] = Entry(at: now)
        order.append(key)
        while order.count > Self.limit { forget(order.removeFirst()) }
        return .new
    }

    /// A command was carried out, with this answer.
    public mutating func answered(_ id: UUID, from device: String, _ answer: [UInt8]) {
        let key = Key(device: device, id: id)
        guard entries[key] != nil else { return }
        entries[key]?.isAnswered = true
        entries[key]?.answer = answer
        kept.append(key)
        size += answer.count
        while size > Self.answerLimit, !kept.isEmpty { dropAnswer(kept.removeFirst()) }
    }

    private mutating func forget(before limit: Int64) {
        while let first = order.first, let entry = entries[first], entry.at <= limit {
            order.removeFirst()
            forget(first)
        }
    }

    private mutating func forget(_ key: Key) {
        dropAnswer(key)
        entries[key] = nil
        if kept.first == key { kept.removeFirst() } else { kept.removeAll { $0 == key } }
    }

    private mutating func dropAnswer(_ key: Key) {
        guard let answer = entries[key]?.answer else { return }
        size -= answer.count
        entries[key]?.answer = nil
    }
}
