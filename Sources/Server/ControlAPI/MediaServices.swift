import MediaStore

/// What the control API needs to take and to serve the files of notifications.
public struct MediaServices: Sendable {
    /// Where they are kept.
    public var store: MediaStore
    /// The address before `/media/…` by which devices reach this server; `nil` while it is not known.
    public var publicAddress: @Sendable () -> String?

    /// Brings the two together.
    public init(store: MediaStore, publicAddress: @escaping @Sendable () -> String?) {
        self.store = store
        self.publicAddress = publicAddress
    }
}
