import AgentProtocol
import Foundation

/// A picture, sound or film that a payload names, in any of the known forms.
///
/// | who sends | where |
/// |---|---|
/// | Braze | `ab.att.url`, `ab.att.type` |
/// | Firebase | `fcm_options.image` |
/// | OneSignal | `att`, a map of identifiers and addresses; also within `os_data` |
/// | anybody | `attachment-url`, `attachment-type` |
public struct PayloadMedia: Hashable, Sendable {
    /// The attachment's identifier; empty for one that is made.
    public var identifier: String
    /// The address of the file.
    public var url: String
    /// The file's type as the sender states it: an extension, a MIME type or a uniform type identifier.
    public var typeHint: String?

    /// How many files one notification may name; what comes after them is left out.
    public static let countLimit = 8

    /// Something to attach.
    public init(identifier: String = "", url: String, typeHint: String? = nil) {
        self.identifier = identifier
        self.url = url
        self.typeHint = typeHint
    }

    /// Everything that a payload names, each address once. A member of another type than it should have names nothing.
    public static func all(in userInfo: [AnyHashable: Any]) -> [PayloadMedia] {
        var found: [PayloadMedia] = []
        func add(_ url: Any?, type: Any? = nil, identifier: String = "") {
            guard let url = url as? String, !url.isEmpty, found.count < countLimit,
                !found.contains(where: { $0.url == url })
            else { return }
            found.append(PayloadMedia(identifier: identifier, url: url, typeHint: type as? String))
        }
        let braze = object(object(userInfo["ab"])["att"])
        add(braze["url"], type: braze["type"])
        add(object(userInfo["fcm_options"])["image"])
        for map in [object(userInfo["att"]), object(object(userInfo["os_data"])["att"])] {
            for (identifier, url) in map.sorted(by: { $0.key < $1.key }) { add(url, identifier: identifier) }
        }
        add(userInfo["attachment-url"], type: userInfo["attachment-type"])
        return found
    }

    /// The seconds over which the sender wants devices to spread their fetching: `aldaba.fetch-spread`, a number.
    ///
    /// - Returns: `0 ... MediaRequest.spreadLimit`; 0 where it is missing or no number.
    public static func spread(in userInfo: [AnyHashable: Any]) -> Double {
        let value = object(userInfo["aldaba"])["fetch-spread"]
        guard let seconds = (value as? NSNumber)?.doubleValue ?? value as? Double ?? (value as? Int).map(Double.init),
            seconds > 0
        else { return 0 }
        return min(seconds, MediaRequest.spreadLimit)
    }

    private static func object(_ value: Any?) -> [String: Any] {
        if let members = value as? [String: Any] { return members }
        guard let members = value as? [AnyHashable: Any] else { return [:] }
        return members.reduce(into: [:]) { texts, member in
            if let key = member.key as? String { texts[key] = member.value }
        }
    }
}
