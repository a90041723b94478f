import Relay

/// What became of a letter that was to be kept.
public enum LetterKeeping: Hashable, Sendable {
    /// It is kept, and a power cut does not undo that; or it was before.
    case kept
    /// As many are kept for its device as may be: ``LetterLimits``.
    case full
    /// It could not be written; why, in words.
    case failed(String)
}

/// How many letters are kept for one device.
public enum LetterLimits {
    /// How many.
    public static let count = 1000
    /// How many bytes of them.
    public static let bytes = 10 << 20
}

/// Keeps letters for devices that are away; the port of a store.
///
/// Every call returns at once; what is said first is done first. `complete` is called once, later, on another thread, in that
/// order, and may call the store again.
public protocol LetterStore: Sendable {
    /// Keeps a letter after all that were kept before, unless one of the same sender and id is kept for the device.
    func keep(_ letter: KeptLetter, then complete: @escaping @Sendable (LetterKeeping) -> Void)
    /// Reads what is kept for a device of an account beyond a number, in the order in which it was kept, but what has expired by `now`:
    /// at most `count` letters, and after the first no more than `bytes`. `isAll` says that there is no other; `nil` is what could not be
    /// read.
    func read(
        for device: String, of account: RelayDirectory.AccountID, after number: Int64, count: Int, bytes: Int,
        at now: Int64, then complete: @escaping @Sendable (_ letters: [KeptLetter]?, _ isAll: Bool) -> Void)
    /// Keeps a letter no more, and tells whether it was kept; `nil` where that is not known, and it may be still.
    func remove(_ key: LetterKey, for device: String, then complete: @escaping @Sendable (Bool?) -> Void)
    /// Keeps a device's letters no more, and tells which there were, without their bodies.
    func removeAll(for device: String, then complete: @escaping @Sendable ([KeptLetter]) -> Void)
    /// Keeps no more what has expired by `now`, of which it tells some, without their bodies; and when the next expires.
    func expire(at now: Int64, then complete: @escaping @Sendable (_ ended: [KeptLetter], _ next: Int64?) -> Void)
}
