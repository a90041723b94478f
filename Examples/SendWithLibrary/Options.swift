import AldabaAPNs
import Foundation

/// The fault of a command line or a line of the input.
struct Fault: Error, CustomStringConvertible {
    let description: String
}

/// The options of the command line.
struct Options: Sendable {
    private let values: [String: String]

    init(_ arguments: some Sequence<String>) throws {
        var values: [String: String] = [:]
        var name: String?
        for argument in arguments {
            if let option = name {
                values[option] = argument
                name = nil
            } else {
                guard argument.hasPrefix("--") else { throw Fault(description: "\(argument) is no option") }
                name = String(argument.dropFirst(2))
            }
        }
        if let name { throw Fault(description: "--\(name) has no value") }
        self.values = values
    }

    private func value(_ name: String) throws -> String {
        guard let value = values[name] else { throw Fault(description: "give --\(name)") }
        return value
    }

    private func text(ofFile path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// The client of the key and the server.
    func client() throws -> APNsClient {
        var server = APNsServer.production
        if let address = values["server"] {
            let parts = address.split(separator: ":")
            guard parts.count == 2, let port = Int(parts[1]) else {
                throw Fault(description: "\(address) is not HOST:PORT")
            }
            server = APNsServer(host: String(parts[0]), port: port)
        }
        server.authorities = try values["authorities"].map(text(ofFile:))
        var options = APNsOptions()
        if let seconds = values["deadline"].flatMap(Double.init) { options.deadline = .seconds(seconds) }
        options.resendsUnanswered = values["resend"] == "yes"
        let credential = try APNsCredential.key(
            pem: text(ofFile: value("key")), keyID: value("key-id"), teamID: value("team"))
        return try APNsClient(credential: credential, server: server, options: options)
    }

    /// The notification of a line: the member `payload` of its object.
    func notification(_ line: String) throws -> APNsNotification {
        guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            let payload = object["payload"] as? [String: Any]
        else { throw Fault(description: "a line has no object \"payload\"") }
        return APNsNotification(
            pushType: APNsPushType(rawValue: values["type"] ?? "alert"), bundleID: try value("bundle"),
            payload: Array(try JSONSerialization.data(withJSONObject: payload)))
    }
}
