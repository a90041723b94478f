import PushServer

/// The services of the control API for uploading and serving the files of notifications.
public struct MediaServices: Sendable {
    /// The store of the files.
    public var store: MediaStore
    /// The URL prefix of `/media/…` by which devices reach this server; `nil` while it is not known.
    public var publicAddress: @Sendable () -> String?

    /// Creates services from a store and a URL prefix.
    public init(store: MediaStore, publicAddress: @escaping @Sendable () -> String?) {
        self.store = store
        self.publicAddress = publicAddress
    }
}
