import PushCore
import Texts

/// How much of a push service's limit the longest language of a notification uses.
struct PayloadUsage: Hashable, Sendable {
    /// The push service: `apns`, `voip`, `fcmV1`, `browser`.
    var service: String
    var bytes: Int
    var limit: Int
    /// The language of the largest payload; `nil` for the texts without a language.
    var language: String?

    /// The services in the order of the page, with the platform whose payloads count.
    private static let services = [("apns", "apns"), ("voip", "apns"), ("fcmV1", "fcmV1"), ("browser", "browser")]

    /// Reads the answer of `POST /v1/payloads/check`.
    static func read(_ answer: JSONValue) -> [PayloadUsage] {
        services.compactMap { service, platform in
            let renderings = (answer["renderings"]?.items ?? []).filter { $0["platform"]?.text == platform }
            let largest = renderings.max { $0["bytes"]?.integer ?? 0 < $1["bytes"]?.integer ?? 0 }
            guard let bytes = largest?["bytes"]?.integer, let limit = answer["limits"]?[service]?.integer else {
                return nil
            }
            return PayloadUsage(
                service: service, bytes: Int(bytes), limit: Int(limit), language: largest?["locale"]?.text)
        }
    }

    /// Whether the service refuses the payload.
    var isTooLarge: Bool { bytes > limit }

    /// The row for templates.
    func view(_ texts: Catalogue) -> [String: Any] {
        let language = texts.language
        var text = texts.text(
            "compose.bytes", ["bytes": language.number(bytes), "limit": language.number(limit)])
        if let code = self.language { text += " " + texts.text("compose.bytes.language", ["language": code]) }
        return [
            "name": texts.text("compose.service.\(service)"), "service": service, "bytes": bytes, "limit": limit,
            "high": limit * 9 / 10, "text": text, "mark": isTooLarge ? "✗" : "✓",
            "verdict": texts.text(isTooLarge ? "compose.bytes.over" : "compose.bytes.fits"),
        ]
    }
}

/// The load of a picture on the computer that serves it.
struct PictureLoad: Hashable, Sendable {
    /// The size of the file in bytes.
    var bytes: Int
    var devices: Int
    /// The devices that are notified in a second; `nil` where all are at once.
    var rate: Int?

    /// The most bytes a second that are offered without a warning: 10 MB.
    private static let plenty = 10_000_000

    /// The bytes of all devices together.
    var total: Int { bytes.multipliedReportingOverflow(by: devices).partialValue }
    /// The bytes of a second; those of all devices where there is no spread.
    var perSecond: Int { bytes * min(devices, rate ?? devices) }
    /// The seconds that the spread lasts.
    var seconds: Int { rate.map { (devices + $0 - 1) / $0 } ?? 1 }
    /// The rate that keeps the load low; `nil` where it is low already.
    var offer: Int? { perSecond <= Self.plenty || bytes == 0 ? nil : min(100_000, max(1, Self.plenty / bytes)) }

    /// A size in words: `1.5 MB`.
    static func size(_ bytes: Int, _ texts: Catalogue) -> String {
        let (unit, divisor) =
            bytes >= 1_000_000_000 ? ("GB", 1_000_000_000) : bytes >= 1_000_000 ? ("MB", 1_000_000) : ("kB", 1000)
        let tenths = bytes / (divisor / 10)
        let comma = texts.language == .spanish ? "," : "."
        return "\(texts.language.number(tenths / 10))\(comma)\(tenths % 10) \(unit)"
    }
}
