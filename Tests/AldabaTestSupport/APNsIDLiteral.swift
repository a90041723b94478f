import PushCore

/// Tests write an `apns-id` as the text that it is.
extension APNsID: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { self.init(rawValue: value) }
}
