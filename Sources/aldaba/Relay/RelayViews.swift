import AldabaConfiguration
import Foundation
import RelayProtocol

/// A device as the commands show it.
struct RelayDeviceView: Encodable {
    var id: String
    var name: String
    var kind: String
    var platform: String
    /// The manufacturer and the model; `nil` where they are not known.
    var manufacturer: String?
    var model: String?
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
        manufacturer = device.manufacturer.isEmpty ? nil : device.manufacturer
        model = device.model.isEmpty ? nil : device.model
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

/// An event of a watched device.
struct RelayEventView: Encodable {
    var event: String
    var device: RelayDeviceView
}

/// How commands end, in words.
enum RelayWords {
    /// The warning about devices of the account that were not found, from a device's status; `nil` for none.
    static func missing(in status: RelayMap) -> String? {
        guard case .integer(let count)? = status["missing"], count > 0 else { return nil }
        let who = count == 1 ? "a device of the account is" : "\(count) devices of the account are"
        return
            "\(who) not found under its key; if one was dismissed while this device was away, the others have another key: "
            + "pair this one again, with `aldaba relay pair` on one of them"
    }

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
        case .refusedHere: "it was not sent"
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
        case .tooLarge, .unknownDevice, .refusedHere: .invalidInput
        case .networkUnavailable, .notDelivered, .appUnavailable: .unreachable
        case .expired, .outcomeUnknown: .timedOut
        default: .failed
        }
    }
}
