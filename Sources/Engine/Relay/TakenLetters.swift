import Foundation
import RelayWire

/// A letter that a device has taken for good, and what came of it.
public struct TakenLetter: Hashable, Sendable {
    /// Its sender and id.
    public var key: LetterKey
    /// Until when it is remembered, in milliseconds since 1970.
    public var until: Int64
    /// What came of it.
    public var status: RelayStatus

    /// Describes a letter.
    public init(key: LetterKey, until: Int64, status: RelayStatus) {
        self.key = key
        self.until = until
        self.status = status
    }

    /// How long after its deadline a letter is remembered, in milliseconds: its sender may give it again.
    public static let memory: Int64 = AnsweredCommands.age
}

/// The letters that a device has taken, so that one which comes again is not given to its app again: a value.
///
/// Guarantees: a letter is remembered until ten minutes after its deadline; of more than ``limit`` the oldest are forgotten.
public struct TakenLetters: Sendable {
    /// How many are remembered at most.
    public static let limit = 8192

    private var entries: [LetterKey: TakenLetter] = [:]
    private var order: ArraySlice<LetterKey> = []

    /// None was taken.
    public init() {}

    /// How many are remembered.
    public var count: Int { entries.count }

    /// What came of a letter that was taken; `nil` for one that is new.
    public subscript(key: LetterKey) -> RelayStatus? { entries[key]?.status }

    /// A letter was taken.
    public mutating func add(_ letter: TakenLetter, at now: Int64) {
        if entries.updateValue(letter, forKey: letter.key) == nil { order.append(letter.key) }
        while let first = order.first, order.count > Self.limit || (entries[first]?.until ?? .min) < now {
            entries[first] = nil
            order.removeFirst()
        }
    }

    /// All that are remembered at a moment, the oldest first.
    public func all(at now: Int64) -> [TakenLetter] { order.compactMap { entries[$0] }.filter { $0.until >= now } }
}
