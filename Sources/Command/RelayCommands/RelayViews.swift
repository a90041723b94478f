import CommandCore
import Foundation
import RelayWire

/// A device as the commands show it.
struct RelayDeviceView: Encodable {
    var id: String
    var name: String
    var kind: String
    var platform: String
    var presence: String
    /// `direct`, `relay` or `wake`; `nil` while it cannot be reached.
    var reach: String?
    var apps: [App]

    struct App: Encodable {
        var id: String
        var name: String
        var presence: String
        var services: [String]
        var schemes: [String]
        var attributes: [String: String]
    }

    init(_ device: RelayDevice) {
        id = device.id
        name = device.name
        kind = device.kind
        platform = device.platform
        presence = device.presence.rawValue
        reach = device.reach?.rawValue
        apps = device.apps.map {
            App(
                id: $0.id, name: $0.name, presence: $0.presence.rawValue, services: $0.services, schemes: $0.schemes,
                attributes: $0.attributes)
        }
    }

    /// The device in one line: presence and how it is reached, id, name, kind, and what its apps offer.
    var line: String {
        let offers = apps.flatMap { app in app.services.map { "\(app.id)/\($0)" } }
        let way = reach == "direct" ? "\(presence), directly" : presence
        return TerminalText.line("\(way)  \(id)  \(name)  \(kind)  \(offers.joined(separator: " "))")
    }
}

/// What became of a device.
struct RelayEventView: Encodable {
    var event: String
    var device: RelayDeviceView
}

/// How commands end, in words.
enum RelayWords {
    static func of(_ status: RelayStatus) -> String {
        switch status {
        case .success: "done"
        case .failed: "it arrived and could not be done"
        case .appNotInstalled: "the app is not there"
        case .appUnavailable: "the app cannot be reached now"
        case .serviceUnavailable: "the service is not offered"
        case .notAuthorized: "it is not granted"
        case .protocolUnavailable: "nothing there opens such addresses"
        case .denied: "the device's rules forbid it"
        case .tooLarge: "it was not sent, since it is too large or cannot be written"
        case .resourceLimits: "too much is under way"
        case .networkUnavailable: "it was not sent"
        case .unknownDevice: "it was not sent: there is no such device"
        case .notDelivered: "it did not arrive"
        case .expired: "it did not arrive in time, and was not done"
        case .outcomeUnknown: "nobody knows what came of it"
        case .cancelled: "it was taken back"
        case .connectionClosed: "the connection is closed"
        case .conflict: "the document has another revision"
        case .notFound: "there is no such document"
        }
    }

    static func exit(_ status: RelayStatus) -> CommandExit {
        switch status {
        case .notAuthorized, .denied: .notAuthorized
        case .tooLarge, .unknownDevice: .invalidInput
        case .networkUnavailable, .notDelivered, .appUnavailable: .unreachable
        case .expired, .outcomeUnknown: .timedOut
        default: .failed
        }
    }
}

/// Messages as JSON, for terminals. Dates, UUIDs and data become texts.
enum RelayJSON {
    /// Reads a JSON object.
    static func map(_ text: String) throws -> RelayMap {
        guard let value = try? JSONDecoder().decode(Reading.self, from: Data(text.utf8)),
            case .dictionary(let map)? = value.value
        else { throw CommandFailure(.invalidInput, "--message must be a JSON object without null") }
        return map
    }

    static func text(_ map: RelayMap) throws -> String { try JSONLine.of(Writing(value: .dictionary(map))) }

    private struct Reading: Decodable {
        var value: RelayValue?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                value = .bool(flag)
            } else if let number = try? container.decode(Int64.self) {
                value = .integer(number)
            } else if let number = try? container.decode(Double.self) {
                value = .double(number)
            } else if let text = try? container.decode(String.self) {
                value = .string(text)
            } else if let values = try? container.decode([Reading].self) {
                value = .array(try values.map { try $0.known() })
            } else {
                value = .dictionary(try container.decode([String: Reading].self).mapValues { try $0.known() })
            }
        }

        func known() throws -> RelayValue {
            guard let value else { throw CommandFailure(.invalidInput, "null is no value of a message") }
            return value
        }
    }

    private struct Writing: Encodable {
        let value: RelayValue

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value {
            case .string(let text): try container.encode(text)
            case .integer(let number): try container.encode(number)
            case .double(let number):
                if number.isFinite { try container.encode(number) } else { try container.encode("\(number)") }
            case .bool(let flag): try container.encode(flag)
            case .date(let milliseconds):
                let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
                try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            case .uuid(let id): try container.encode(id.uuidString)
            case .data(let bytes): try container.encode(Data(bytes).base64EncodedString())
            case .array(let values): try container.encode(values.map(Writing.init))
            case .dictionary(let map): try container.encode(map.mapValues(Writing.init))
            }
        }
    }
}
