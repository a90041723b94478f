import APNsProtocol
import FCMProtocol
import PushCore
import PushServer

/// The JSON of a fault.
package enum FaultDocument {
    /// The JSON of a fault that was set.
    package static func json(_ fault: Fault) -> JSONValue {
        var members: [JSONValue.Member] = [.init("id", .string(String(fault.number)))]
        func add(_ name: String, _ value: String?) {
            if let value { members.append(.init(name, .string(value))) }
        }
        func add(_ name: String, number: Int?) {
            if let number { members.append(.init(name, .number(String(number)))) }
        }
        add("action", fault.action.rawValue)
        add("interface", fault.selection.interface?.rawValue)
        for (name, value) in texts(of: fault.selection) { add(name, value) }
        add("connection", number: fault.selection.connection)
        add("status", number: fault.reply?.status)
        add("reason", fault.reply?.reason)
        add("retryAfter", number: fault.reply?.retryAfter)
        add("delay", number: fault.delay > 0 ? fault.delay : nil)
        if !fault.isUnprocessed { members.append(.init("unprocessed", .boolean(false))) }
        add("skip", number: fault.pace.skip)
        add("times", number: fault.pace.times)
        if fault.pace.rate < 1 {
            members.append(.init("rate", .number(String(fault.pace.rate))))
            add("seed", number: Int(fault.pace.seed))
        }
        add("matched", number: fault.matched)
        add("used", number: fault.used)
        return .object(members)
    }

    private static func texts(of selection: Fault.Selection) -> [(String, String?)] {
        [
            ("token", selection.token), ("app", selection.app), ("team", selection.team),
            ("namespace", selection.namespace), ("path", selection.path),
        ]
    }

    private static let names: Set<String> = [
        "interface", "token", "app", "team", "namespace", "path", "connection", "skip", "times", "rate", "seed",
        "action",
        "status", "reason", "retryAfter", "delay", "unprocessed",
    ]

    /// Reads a fault.
    ///
    /// - Throws: A refusal that names the member, and what would be right.
    package static func fault(_ bytes: [UInt8]) throws -> Fault {
        let json: JSONValue
        do { json = try JSONValue(object: bytes) } catch {
            throw ControlError.invalid("the body is no JSON object: \(error)")
        }
        if let unknown = json.members?.first(where: { !names.contains($0.name) })?.name {
            throw ControlError.invalid(
                "\(unknown.prefix(64)) is unknown; a fault has \(names.sorted().joined(separator: ", "))")
        }
        let reader = Reader(json: json)
        var fault = Fault()
        fault.selection = try reader.selection()
        fault.pace = try reader.pace()
        fault.delay = try reader.number("delay", in: 0...600_000) ?? 0
        fault.reply = try reader.reply()
        fault.action = try reader.choice("action") ?? (fault.reply == nil && fault.delay > 0 ? .delay : .answer)
        fault.isUnprocessed = try reader.flag("unprocessed") ?? true
        try check(&fault)
        return fault
    }

    private static func check(_ fault: inout Fault) throws {
        guard fault.selection.interface != .binary else {
            throw ControlError.invalid("apns-binary has no faults; its refusals are those of tokens and certificates")
        }
        guard fault.action == .answer || fault.reply == nil else {
            throw ControlError.invalid("status and reason go with the action answer, not with \(fault.action.rawValue)")
        }
        guard fault.reply?.status != 200 || fault.selection.interface == .apns else {
            throw ControlError.invalid("status 200 goes with the interface apns, whose answer has no body")
        }
        guard fault.action != .expiredCertificate || fault.selection == Fault.Selection() else {
            throw ControlError.invalid(
                "expired-certificate is for the next connection, of which no request is known yet")
        }
        switch fault.action {
        case .answer:
            guard fault.reply != nil else {
                throw ControlError.invalid(
                    "the fault needs a status (429), a reason (TooManyRequests, QUOTA_EXCEEDED) or another action")
            }
        case .delay:
            guard fault.delay > 0 else { throw ControlError.invalid("delay must be the milliseconds of the delay") }
        case .goAway, .refuseStream, .oneStream:
            guard (fault.selection.interface ?? .apns) == .apns else {
                throw ControlError.invalid("\(fault.action.rawValue) is HTTP/2's; here only the interface apns has it")
            }
            fault.selection.interface = .apns
        case .cut, .silence, .expiredCertificate: break
        }
    }

    /// Reads members, each with its refusal.
    private struct Reader {
        let json: JSONValue

        func text(_ name: String) throws -> String? {
            guard let value = json[name] else { return nil }
            guard let text = value.text else {
                throw ControlError.invalid("\(name) must be a string, not \(value.kind)")
            }
            return text
        }

        func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
            guard let value = json[name] else { return nil }
            guard let number = value.integer.map(Int.init), range.contains(number) else {
                throw ControlError.invalid(
                    "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }

        func flag(_ name: String) throws -> Bool? {
            guard let value = json[name] else { return nil }
            guard let flag = value.isTrue else { throw ControlError.invalid("\(name) must be true or false") }
            return flag
        }

        func choice<Choice: RawRepresentable & CaseIterable>(_ name: String) throws -> Choice?
        where Choice.RawValue == String {
            guard let text = try text(name) else { return nil }
            guard let choice = Choice(rawValue: text) else {
                let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlError.invalid("\(name) must be one of \(known)")
            }
            return choice
        }

        func selection() throws -> Fault.Selection {
            var selection = Fault.Selection()
            selection.interface = try choice("interface")
            selection.token = try text("token")
            selection.app = try text("app")
            selection.team = try text("team")
            selection.namespace = try text("namespace")
            selection.path = try text("path")
            selection.connection = try number("connection", in: 1...Int(Int32.max))
            return selection
        }

        func pace() throws -> Fault.Pace {
            var pace = Fault.Pace()
            pace.skip = try number("skip", in: 0...1_000_000) ?? 0
            pace.times = try number("times", in: 0...1_000_000) ?? 1
            pace.seed = UInt64(try number("seed", in: 0...Int(Int32.max)) ?? 1)
            if let value = json["rate"] {
                guard case .number(let text) = value, let rate = Double(text), (0...1).contains(rate) else {
                    throw ControlError.invalid("rate must be a number from 0 to 1")
                }
                pace.rate = rate
            }
            return pace
        }

        /// The reply. A status without a reason has the usual one; a reason has its own status.
        func reply() throws -> Fault.Reply? {
            let reason = try text("reason")
            let status = try number("status", in: 200...599)
            let retryAfter = try number("retryAfter", in: 0...1_000_000)
            guard status != nil || reason != nil else {
                guard retryAfter == nil else { throw ControlError.invalid("retryAfter needs a status or a reason") }
                return nil
            }
            let known = reason.flatMap { APNsReason(rawValue: $0)?.status ?? FCMErrorCode(rawValue: $0)?.status.http }
            if let status, status != 200, !(400...599).contains(status) {
                throw ControlError.invalid("status must be 200, or from 400 to 599")
            }
            guard let status = status ?? known else {
                throw ControlError.invalid(
                    "\(reason ?? "") is no reason of APNs (BadDeviceToken) or FCM (UNREGISTERED); give its status too")
            }
            return Fault.Reply(status: status, reason: reason, retryAfter: retryAfter)
        }
    }
}
