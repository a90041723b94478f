import PushServer

/// The services of the control API for uploading and serving the files of notifications.
package struct MediaServices: Sendable {
    /// The store of the files.
    package var store: MediaStore
    /// The URL prefix of `/media/…` by which devices reach this server; `nil` while it is not known.
    package var publicAddress: @Sendable () -> String?

    /// Creates services from a store and a URL prefix.
    package init(store: MediaStore, publicAddress: @escaping @Sendable () -> String?) {
        self.store = store
        self.publicAddress = publicAddress
    }
}
