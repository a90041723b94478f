import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer

/// The routes by which tests ask a development server what it received, set faults and move its clock.
struct TestInterface {
    let controls: TestControls
    let access: ProviderAccess
    /// The port that the listener is bound to.
    let port: @Sendable () -> Int?

    /// Adds the route that is on every listener: a team's own requests.
    func addReading(to router: Router<ControlContext>) {
        router.get("v1/received") { request, _ in try await received(request) }
    }

    /// Adds the routes that change something; for loopback alone.
    func addChanges(to router: Router<ControlContext>) {
        router.post("v1/reset") { request, _ in try reset(request) }
        router.post("v1/faults") { request, _ in try await addFault(request) }
        router.get("v1/faults") { _, _ in
            Response.value(.object([.init("faults", .array(controls.faults.all.map(FaultDocument.json)))]))
        }
        router.delete("v1/faults") { request, _ in try removeFaults(request) }
        router.delete("v1/faults/:id") { _, context in
            let id = try context.parameters.require("id")
            guard let number = Int(id), controls.faults.remove(number) else { throw ControlError.notFound }
            return Response(status: .noContent)
        }
        router.get("v1/clock") { _, _ in clock() }
        router.post("v1/clock") { request, _ in try await advance(request) }
        router.get("emulators") { _, _ in emulators() }
    }

    // MARK: Received

    private func received(_ request: Request) async throws -> Response {
        let query = try ReceivedQuery(request.uri.query ?? "")
        var filter = query.filter
        if let team = try await access.team(request.headers[.authorization]) { filter.values[.team] = team.rawValue }
        if query.timeout > .zero {
            await controls.received.wait(for: filter, count: query.count, timeout: query.timeout)
        }
        return .value(ReceivedAnswer(page: controls.received.page(filter, limit: query.limit)).json)
    }

    /// The namespace that a query names; `nil` for all.
    private func namespace(_ request: Request) throws -> String? {
        let fields = try FormFields(request.uri.query ?? "")
        if let unknown = fields.names.first(where: { $0 != "namespace" }) {
            throw ControlError.invalid("\(unknown.prefix(64)) is unknown; the query has namespace alone")
        }
        return fields.first("namespace")
    }

    private func reset(_ request: Request) throws -> Response {
        let namespace = try namespace(request)
        let received = controls.received.forget(namespace: namespace)
        return .value(
            .object([
                .init("received", .number(String(received))),
                .init("faults", .number(String(controls.faults.removeAll(namespace: namespace)))),
            ]))
    }

    // MARK: Faults

    private func addFault(_ request: Request) async throws -> Response {
        let fault = try FaultDocument.fault(Array(buffer: try await request.wholeBody()))
        guard fault.action != .expiredCertificate || controls.hasExpiredCertificate else {
            throw ControlError.invalid(
                "expired-certificate needs the development certificate; this server was given another")
        }
        guard let added = controls.faults.add(fault) else {
            throw ControlError(
                status: .conflict, code: "tooMany",
                message: "there are \(FaultPlan.limit) faults; remove some, or reset")
        }
        return .value(FaultDocument.json(added), status: .created)
    }

    private func removeFaults(_ request: Request) throws -> Response {
        let namespace = try namespace(request)
        return .value(.object([.init("faults", .number(String(controls.faults.removeAll(namespace: namespace))))]))
    }

    // MARK: The clock

    private func clock() -> Response {
        let seconds = controls.clock.advanced.components.seconds
        return .value(
            .object([
                .init("now", .string(controls.clock.now.description)), .init("advanced", .number(String(seconds))),
            ]))
    }

    private func advance(_ request: Request) async throws -> Response {
        let json: JSONValue
        do { json = try JSONValue(object: Array(buffer: try await request.wholeBody())) } catch is JSONScanner.Fault {
            throw ControlError.invalid(#"the body must be {"advance": "28d"}"#)
        }
        guard let text = json["advance"]?.text, let duration = TestDuration.read(text) else {
            throw ControlError.invalid("advance must be a time such as 90s, 15m, 12h, 28d or 1d12h, at most 3650d")
        }
        try controls.clock.advance(by: duration)
        return clock()
    }

    // MARK: Emulators

    /// The form of Firebase's Emulator Hub, `GET /emulators`.
    private func emulators() -> Response {
        let port = port() ?? 0
        func emulator(_ name: String) -> JSONValue.Member {
            .init(
                name,
                .object([
                    .init("name", .string(name)), .init("host", .string("127.0.0.1")),
                    .init("port", .number(String(port))),
                    .init(
                        "listen",
                        .array([
                            .object([
                                .init("address", .string("127.0.0.1")), .init("family", .string("IPv4")),
                                .init("port", .number(String(port))),
                            ])
                        ])),
                ]))
        }
        return .value(.object([emulator("hub"), emulator("messaging")]))
    }
}

/// A time as tests write it.
package enum TestDuration {
    private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]

    /// Reads `90s`, `28d` or `1d12h`; `nil` for anything else, and for more than ten years.
    package static func read(_ text: String) -> Duration? {
        var (seconds, digits) = (0, "")
        for character in text {
            if character.isASCII, character.isNumber, digits.count < 9 {
                digits.append(character)
            } else if let unit = units[character], let count = Int(digits) {
                seconds += count * unit
                digits = ""
            } else {
                return nil
            }
        }
        guard digits.isEmpty, (1...3650 * 86_400).contains(seconds) else { return nil }
        return .seconds(seconds)
    }
}
