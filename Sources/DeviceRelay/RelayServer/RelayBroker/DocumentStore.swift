import PushCore
import RelayProtocol

/// The limits on stored documents.
package enum DocumentLimits {
    /// The maximum number of documents of one account.
    package static let count = 1000
    /// The maximum size of an account's sealed documents, in bytes.
    package static let bytes = 4 << 20
    /// The maximum number of kept numbers of removed documents, and the time for which they are kept, in milliseconds:
    /// 28 days.
    package static let removed = 1000, removedAge: Int64 = 28 * 86_400_000
    /// The time for which the documents of an account without connecting devices are kept, in milliseconds: 90 days.
    package static let age: Int64 = 90 * 86_400_000
    /// The maximum number of documents in one response, and their maximum size in bytes after the first.
    package static let page = (count: 32, bytes: 96 << 10)
}

/// Storage of the documents that the devices of one person share; the port of a store.
///
/// Every call returns at once; calls are executed in their order. `complete` is called once, later, on another thread,
/// in that order, and may call the store again.
package protocol DocumentStore: Sendable {
    /// Performs a request of a device of an account; a result of success survives a power cut. The caller checks the
    /// access token in it.
    func perform(
        _ ask: RelayDocumentRequest, of account: RelayDirectory.AccountID, at now: Timestamp,
        then complete: @escaping @Sendable (RelayDocumentAnswer) -> Void)
    /// Records that a device of the account is present.
    func seen(_ account: RelayDirectory.AccountID, at now: Timestamp)
    /// Deletes some numbers of documents that were removed long ago, and returns some accounts whose devices were not
    /// seen for ``DocumentLimits/age``; `nil` where they could not be read. `isAll` is whether nothing is left to
    /// delete.
    func sweep(
        at now: Timestamp,
        then complete: @escaping @Sendable (_ unseen: [RelayDirectory.AccountID]?, _ isAll: Bool) -> Void)
    /// Deletes some of an account's documents if none of its devices was seen for ``DocumentLimits/age``; completes
    /// with whether none are left to delete. A document that is put meanwhile shows that a device is back: the present
    /// ones then remain.
    func forget(
        _ account: RelayDirectory.AccountID, at now: Timestamp,
        then complete: @escaping @Sendable (_ isAll: Bool?) -> Void)
}
