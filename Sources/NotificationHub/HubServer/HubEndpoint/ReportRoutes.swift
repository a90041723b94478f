import Foundation
import HTTPTypes
import HubProtocol
import Hummingbird
import NIOCore
import PushCore
import PushServer
import ServiceLifecycle

extension OwnRoutes {
    /// Adds the reports of a send: its funnel, its recipients, their export, and live updates of the funnel.
    func addReports(to router: Router<ControlContext>, of path: String) {
        let root = "v1/hubs/:hub/\(path)/:id"
        router.get("\(root)/report", use: handler([.send, .report], report))
        router.get("\(root)/recipients", use: handler([.send, .report], recipients))
        router.get("\(root)/export", use: handler([.send, .report], export))
        let isAdmitted = handler([.send, .report]) { _ in Response(status: .noContent) }
        router.get("\(root)/live") { request, context in
            try await handler([.send, .report]) { call in
                try await live(call) {
                    do { return try await isAdmitted(request, context).status == .noContent } catch is ControlError {
                        return false
                    }
                }
            }(request, context)
        }
    }

    private func report(_ call: Call) async throws -> Response {
        .json(tree: try await hubs.report(call.name, of: call.hub, by: timelines).tree)
    }

    /// The position of a recipient as a cursor, which is opaque to clients.
    private static func cursor(_ recipient: SendRecipient) -> String {
        Base64URL.encode(Array("\(recipient.installation)\(recipient.part)".utf8))
    }

    private static func place(_ call: Call) throws -> (installation: UInt32, part: String)? {
        guard let text = call.query.first("cursor"), !text.isEmpty else { return nil }
        guard let bytes = Base64URL.decode(text.utf8) else {
            throw InstallationError("cursor", "a cursor is what the page before told as \"next\"")
        }
        let decoded = String(decoding: bytes, as: UTF8.self)
        let digits = decoded.prefix { $0.isASCII && $0.isNumber }
        guard let number = UInt32(digits) else {
            throw InstallationError("cursor", "a cursor is what the page before told as \"next\"")
        }
        return (number, String(decoded.dropFirst(digits.count)))
    }

    private func recipients(_ call: Call) async throws -> Response {
        let record = try await hubs.send(call.name, of: call.hub)
        let limit = try call.limit()
        let page = try await hubs.recipients(
            of: record, hub: call.hub, after: try Self.place(call), limit: limit, by: timelines)
        var members: [JSONValue.Member] = [
            .init("recipients", .array(page.map { $0.tree(hubs.notificationID(of: $0, in: record, hub: call.hub)) }))
        ]
        if page.count == limit, let last = page.last { members.append(.init("next", .string(Self.cursor(last)))) }
        return .json(tree: .object(members))
    }

    /// The number of recipients of an export that are read at once, so that its memory is independent of its length.
    private static let exportPage = 500

    private func export(_ call: Call) async throws -> Response {
        let record = try await hubs.send(call.name, of: call.hub)
        let isCSV: Bool
        switch call.query.first("format") ?? "jsonl" {
        case "jsonl": isCSV = false
        case "csv": isCSV = true
        default: throw InstallationError("format", "a format is jsonl or csv")
        }
        let (hubs, hub, timelines) = (hubs, call.hub, timelines)
        // A send that cannot be read is refused before the response begins.
        let first = try await hubs.recipients(of: record, hub: hub, after: nil, limit: Self.exportPage, by: timelines)
        return Response(
            status: .ok,
            headers: [
                .contentType: isCSV ? "text/csv; charset=utf-8" : "application/jsonl; charset=utf-8",
                .cacheControl: "no-store",
            ],
            body: ResponseBody { writer in
                if isCSV { try await writer.write(ByteBuffer(string: CSVField.line(SendRecipient.columns))) }
                var page = first
                while true {
                    var buffer = ByteBuffer()
                    for recipient in page {
                        let tree = recipient.tree(hubs.notificationID(of: recipient, in: record, hub: hub))
                        if isCSV {
                            buffer.writeString(CSVField.line(SendRecipient.columns.map { tree[$0]?.plain ?? "" }))
                        } else {
                            buffer.writeBytes(tree.bytes)
                            buffer.writeString("\n")
                        }
                    }
                    try await writer.write(buffer)
                    guard page.count == Self.exportPage, let last = page.last else { break }
                    page = try await hubs.recipients(
                        of: record, hub: hub, after: (last.installation, last.part), limit: Self.exportPage,
                        by: timelines)
                }
                try await writer.finish(nil)
            })
    }

    /// The report as server-sent events, one for each change, until the send is over and nothing more can arrive.
    ///
    /// - Parameter mayStill: Whether the caller's credential is valid now. Called before every report.
    private func live(_ call: Call, mayStill: @escaping @Sendable () async throws -> Bool) async throws -> Response {
        let first = try await hubs.report(call.name, of: call.hub, by: timelines)
        let slot = try slots.slot(for: call.hub.team)
        let (hubs, hub, id, timelines) = (hubs, call.hub, call.name, timelines)
        var headers: HTTPFields = [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"]
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                defer { slot.release() }
                try await writer.write(ByteBuffer(string: "retry: 2000\n\n"))
                var report = first
                var last: SendReport?
                var silent = 0
                while !Task.isShuttingDownGracefully, try await mayStill() {
                    if report != last {
                        try await writer.write(ByteBuffer(string: "event: report\ndata: \(report.tree.json)\n\n"))
                        (last, silent) = (report, 0)
                    } else {
                        silent += 1
                        if silent % 15 == 0 { try await writer.write(ByteBuffer(string: ": still here\n\n")) }
                    }
                    if report.isOver { break }
                    let pause: Void? = try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(1)) }
                    guard pause != nil else { break }
                    report = try await hubs.report(id, of: hub, by: timelines)
                }
                try await writer.finish(nil)
            })
    }
}

extension SendReport {
    /// Whether no more events can arrive.
    var isOver: Bool { state.isFinal && ends.keys.allSatisfy(\.isFinal) }

    /// The state, the funnel and the ends for our own API and webhooks; each step names its source.
    package var members: [JSONValue.Member] {
        [
            .init("state", .string(state.rawValue)),
            .init(
                "funnel",
                .array(
                    SendFunnel.Step.allCases.map { step in
                        .object([
                            .init("step", .string(step.rawValue)), .init("count", .number(String(funnel[step]))),
                            .init("source", .string(step.source)),
                            .init("kind", .string(step.isEngagement ? "engagement" : "delivery")),
                        ])
                    })),
            .init(
                "ends",
                .object(
                    End.allCases.compactMap { end in ends[end].map { .init(end.rawValue, .number(String($0))) } })),
        ]
    }

    /// The JSON of the report for our own API.
    var tree: JSONValue {
        let parts = Dimension.allCases.compactMap { dimension -> JSONValue.Member? in
            guard let values = self.parts[dimension] else { return nil }
            return .init(
                dimension.rawValue,
                .object(
                    values.sorted { $0.key < $1.key }.map { value, funnel in
                        .init(
                            value,
                            .object(
                                SendFunnel.Step.allCases.map { .init($0.rawValue, .number(String(funnel[$0]))) }))
                    }))
        }
        return .object(members + [.init("parts", .object(parts))])
    }
}

extension SendRecipient {
    /// The members of ``tree(_:)``, in their order: the columns of an export.
    static let columns = [
        "installationId", "platform", "locale", "appVersion", "part", "notificationId", "end", "outcome", "reason",
        "attempts", "at", "retryAt", "reached", "variant",
    ]

    /// The JSON of the recipient for our own API.
    ///
    /// - Parameter id: The notification's id, under which there is a timeline on this server's own devices; `nil` where
    ///   none was made yet.
    func tree(_ id: String?) -> JSONValue {
        let names: [(Reached, String)] = [
            (.delivered, "delivered"), (.presented, "presented"), (.opened, "opened"), (.action, "action"),
            (.dismissed, "dismissed"), (.expired, "expired"),
        ]
        func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
        return .object([
            .init("installationId", .string(name)), .init("platform", .string(platform.text)),
            .init("locale", text(locale)), .init("appVersion", text(appVersion)),
            .init("part", text(part.isEmpty ? nil : String(part.dropFirst()))), .init("notificationId", text(id)),
            .init("end", .string(end.rawValue)), .init("outcome", text(outcome?.rawValue)),
            .init("reason", text(reason)), .init("attempts", .number(String(attempts))),
            .init("at", .string(WireTime.write(at))), .init("retryAt", text(retryAt.map(WireTime.write))),
            .init("reached", .string(names.filter { reached.contains($0.0) }.map(\.1).joined(separator: " "))),
            .init("variant", text(variant)),
        ])
    }
}

extension JSONValue {
    /// The text of a string, a number as it is written, and nothing of `null`.
    fileprivate var plain: String {
        switch self {
        case .null: ""
        case .string(let text): text
        default: json
        }
    }
}
