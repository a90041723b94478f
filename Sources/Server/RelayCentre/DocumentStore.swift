import Relay
import RelayWire

/// How much is kept of documents.
public enum DocumentLimits {
    /// How many documents of one account.
    public static let count = 1000
    /// How many bytes of them, as they are sealed.
    public static let bytes = 4 << 20
    /// How many numbers of removed documents, and how long, in milliseconds: 28 days.
    public static let removed = 1000, removedAge: Int64 = 28 * 86_400_000
    /// For how long the documents of an account are kept none of whose devices comes, in milliseconds: 90 days.
    public static let age: Int64 = 90 * 86_400_000
    /// How many are told in one answer, and how many bytes of them after the first.
    public static let page = (count: 32, bytes: 96 << 10)
}

/// Keeps the documents that the devices of one person share; the port of a store.
///
/// Every call returns at once; what is said first is done first. `complete` is called once, later, on another thread, in that order, and
/// may call the store again.
public protocol DocumentStore: Sendable {
    /// Does what a device of an account asks; what it says is kept survives a power cut. The access token in it is the caller's matter.
    func perform(
        _ ask: RelayDocumentAsk, of account: RelayDirectory.AccountID, at now: Int64,
        then complete: @escaping @Sendable (RelayDocumentAnswer) -> Void)
    /// A device of the account is there.
    func seen(_ account: RelayDirectory.AccountID, at now: Int64)
    /// Forgets some numbers of what was removed long ago, and tells some accounts none of whose devices was seen for ``DocumentLimits/age``;
    /// `nil` is what could not be read. `isAll` says that there is no more to be forgotten.
    func sweep(
        at now: Int64,
        then complete: @escaping @Sendable (_ unseen: [RelayDirectory.AccountID]?, _ isAll: Bool) -> Void)
    /// Deletes some of an account's documents, where none of its devices was seen for ``DocumentLimits/age``, and tells whether none are left to
    /// be deleted. One that is put meanwhile says that a device is back: what is there then stays.
    func forget(
        _ account: RelayDirectory.AccountID, at now: Int64, then complete: @escaping @Sendable (_ isAll: Bool?) -> Void)
}
