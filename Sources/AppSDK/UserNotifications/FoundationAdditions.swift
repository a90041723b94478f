import Foundation

// What Foundation has on Apple's systems, and public code about notifications uses. If Foundation on Linux ever has it,
// its own is taken.

extension NSDictionary {
    /// The value at the end of a path of keys, `aps.alert.title`; `nil` where a key is missing. Of an array a key gives
    /// the array of its members' values. Collection operators (`@count`) are not known and give `nil`.
    @_disfavoredOverload
    public func value(forKeyPath keyPath: String) -> Any? {
        keyPath.split(separator: ".", omittingEmptySubsequences: false).reduce(self as Any?) { value, key in
            value.flatMap { Self.value(of: $0, forKey: String(key)) }
        }
    }

    private static func value(of value: Any, forKey key: String) -> Any? {
        switch value {
        case let members as NSDictionary: members.object(forKey: key)
        case let members as [AnyHashable: Any]: members[key]
        case let items as [Any]: items.map { Self.value(of: $0, forKey: key) ?? NSNull() }
        default: nil
        }
    }
}

extension CGRect {
    /// The rectangle as a dictionary with the members `X`, `Y`, `Width` and `Height`, as
    /// ``UNNotificationAttachmentOptionsThumbnailClippingRectKey`` takes it.
    @_disfavoredOverload
    public var dictionaryRepresentation: NSDictionary {
        ["X": origin.x, "Y": origin.y, "Width": width, "Height": height]
            .mapValues { NSNumber(value: Double($0)) } as NSDictionary
    }

    /// The rectangle of such a dictionary; `nil` where a member is missing.
    @_disfavoredOverload
    public init?(dictionaryRepresentation dict: NSDictionary) {
        let numbers = ["X", "Y", "Width", "Height"].compactMap { (dict[$0] as? NSNumber)?.doubleValue }
        guard numbers.count == 4 else { return nil }
        self.init(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }
}
