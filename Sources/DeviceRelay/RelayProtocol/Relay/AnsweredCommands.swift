import Foundation

/// The commands that a device has received from others, so that a repeated one is carried out once. A value.
///
/// An id is remembered for ten minutes; at most 1,024 of them, and 4 MiB of responses. Nothing is remembered of the
/// time before the device's agent started: a command that was first sent before then is not taken for a new one.
public struct AnsweredCommands: Sendable {
    /// How long an id is remembered, in milliseconds.
    public static let age: Int64 = 600_000
    /// How many ids are remembered.
    public static let limit = 1024
    /// How many bytes of answers are kept.
    public static let answerLimit = 4 << 20
    /// The largest difference assumed between the clocks of two devices, in milliseconds.
    public static let clockDifference: Int64 = 5_000

    /// The classification of a command that arrives.
    public enum Arrival: Hashable, Sendable {
        /// The command is new: it is to be carried out.
        case new
        /// The command came before, and is being carried out.
        case underWay
        /// The command was carried out, with this answer; `nil` where that is not kept any more.
        case answered([UInt8]?)
        /// The command was sent before, at a time of which not everything is remembered: whether it was carried out is
        /// unknown.
        case forgotten
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
    /// The commands by arrival. A slice, as ``kept``, so that removing the first one does not move the others.
    private var order: ArraySlice<Key> = []
    /// The commands whose responses are kept, the oldest first, including some already forgotten.
    private var kept: ArraySlice<Key> = []
    private var size = 0
    /// The time from which on every command is remembered; `nil` while none can have arrived.
    private var rememberedSince: Int64?

    /// Nothing has come.
    public init() {}

    /// Begins to remember commands; a repeated call changes nothing.
    public mutating func begin(at now: Int64) { rememberedSince = rememberedSince ?? now }

    /// A command has come.
    ///
    /// - Parameter firstGivenAt: When it was given for the first time, by its sender's clock, where it is given again.
    public mutating func arrive(
        _ id: UUID, from device: String, firstGivenAt: Int64? = nil, at now: Int64
    ) -> Arrival {
        let key = Key(device: device, id: id)
        if let entry = entries[key], entry.at > now - Self.age {
            return entry.isAnswered ? .answered(entry.answer) : .underWay
        }
        begin(at: now)
        forget(before: now - Self.age)
        let isForgotten = isForgotten(firstGivenAt)
        entries[key] = Entry(at: now)
        order.append(key)
        while order.count > Self.limit {
            let oldest = order.removeFirst()
            noteForgotten(entries[oldest]?.at)
            forget(oldest)
        }
        return isForgotten ? .forgotten : .new
    }

    private func isForgotten(_ firstGivenAt: Int64?) -> Bool {
        guard let firstGivenAt, let rememberedSince else { return false }
        return firstGivenAt < rememberedSince + Self.clockDifference
    }

    private mutating func noteForgotten(_ moment: Int64?) {
        if let moment { rememberedSince = max(rememberedSince ?? moment, moment + 1) }
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
            noteForgotten(entry.at)
            forget(first)
        }
    }

    private mutating func forget(_ key: Key) {
        dropAnswer(key)
        entries[key] = nil
        if kept.first == key { kept.removeFirst() }
        if kept.count > 2 * Self.limit { kept.removeAll { entries[$0]?.answer == nil } }
    }

    private mutating func dropAnswer(_ key: Key) {
        guard let answer = entries[key]?.answer else { return }
        size -= answer.count
        entries[key]?.answer = nil
    }
}
