/// The names that Aldaba puts into a data stanza's `app_data`. Clients that do not know them pass them by.
public enum MCSKey {
    /// The notification's `apns-id`.
    public static let apnsID = "aldaba.apns-id"
    /// `apns-push-type`; absent when the provider did not say.
    public static let pushType = "aldaba.push-type"
    /// `1`, `5` or `10`.
    public static let priority = "aldaba.priority"
    /// The last instant at which delivery makes sense, in decimal milliseconds since 1970; absent for one attempt.
    public static let expiration = "aldaba.expiration"
    /// `sandbox` or `production`.
    public static let environment = "aldaba.environment"
    /// When the notification was accepted, in decimal milliseconds since 1970.
    public static let accepted = "aldaba.accepted"
    /// `fcm` for that lane; absent for `apns`.
    public static let lane = "aldaba.lane"
}

/// The categories and addresses of upstream stanzas that are for the server itself.
public enum MCSUpstream {
    /// The category of a batch of receipts.
    public static let receiptsCategory = "aldaba.receipts"
    /// Where such a stanza is addressed to.
    public static let serverAddress = "aldaba"
}
