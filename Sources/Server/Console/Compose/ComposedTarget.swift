import PushCore

/// The recipients of a notification.
enum ComposedTarget: Hashable, Sendable {
    case token(String)
    /// An app on a device.
    case device(String)
    /// A person's installations in a hub.
    case person(String)
    case topic(String)
    case condition(String)
    case expression(String)
    case everybody

    /// The kinds as the form names them.
    static let kinds = ["token", "device", "person", "topic", "condition", "expression", "everybody"]

    /// Reads the form's fields.
    init(_ form: ComposeForm) {
        let kind = form.line("to")
        let value = form.line(kind)
        self =
            switch kind {
            case "device": .device(value)
            case "person": .person(value)
            case "topic": .topic(value)
            case "condition": .condition(value)
            case "expression": .expression(value)
            case "everybody": .everybody
            default: .token(form.line("token"))
            }
    }

    /// The device token; `nil` for other recipients.
    var token: String? { if case .token(let token) = self, !token.isEmpty { token } else { nil } }

    /// The form's field that names the recipients.
    var field: String {
        switch self {
        case .token: "token"
        case .device: "device"
        case .person: "person"
        case .topic: "topic"
        case .condition: "condition"
        case .expression: "expression"
        case .everybody: "to"
        }
    }

    /// The expression of a hub's audience; `nil` for recipients that are not of a hub.
    var expression: String? {
        switch self {
        case .person(let id): "$UserId:{\(id)}"
        case .expression(let text): text
        case .everybody: ""
        case .token, .device, .topic, .condition: nil
        }
    }

    /// Whether nobody is named.
    var isEmpty: Bool {
        switch self {
        case .token(let text), .device(let text), .person(let text), .topic(let text), .condition(let text),
            .expression(let text):
            text.isEmpty
        case .everybody: false
        }
    }
}

/// The documents by which a notification is sent.
struct ComposedSend {
    let form: ComposeForm
    let message: ComposedMessage
    let target: ComposedTarget

    init(_ form: ComposeForm) {
        self.form = form
        message = ComposedMessage(form)
        target = ComposedTarget(form)
    }

    /// The body of `POST /v1/notifications` for one device.
    func push(payload: JSONValue, now: Timestamp) -> JSONValue {
        var members: [JSONValue.Member] = []
        if case .device(let number) = target {
            members.append(.init("device", .string(number)))
        } else {
            members.append(.init("token", .string(target.token ?? "")))
        }
        let headers = message.apnsHeaders(topic: form.line("app"), now: now)
        members.append(.init("headers", .object(headers.map { .init($0.name, .string($0.value)) })))
        members.append(.init("payload", payload))
        return .object(members)
    }

    /// The body of `POST /v1/broadcasts` for a topic or a condition.
    func broadcast(payload: JSONValue, team: String, now: Timestamp) -> JSONValue {
        var members: [JSONValue.Member] = []
        switch target {
        case .condition(let text): members.append(.init("condition", .string(text)))
        default: members.append(.init("topic", .string(form.line("topic"))))
        }
        members.append(.init("team", .string(team)))
        if let end = message.expiration(now: now) {
            members.append(.init("expiration", Int64(end) == nil ? .string(end) : .number(end)))
        }
        if !message.collapseID.isEmpty { members.append(.init("collapseID", .string(message.collapseID))) }
        members.append(.init("payload", payload))
        return .object(members)
    }

    /// The document of a campaign.
    ///
    /// - Parameter at: The instant of the send in the form of the API; `nil` for now, and for each person's own time.
    func campaign(content: JSONValue, at: String?) -> JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ name: String, _ value: JSONValue?) { if let value { members.append(.init(name, value)) } }
        let name = form.line("name")
        add("name", name.isEmpty ? nil : .string(name))
        if let expression = target.expression, !expression.isEmpty { add("audience", .string(expression)) }
        if form.line("withB") != "yes" { add("content", content) }
        add("ttl", Self.number(message.ttl))
        add("priority", Self.number(message.priority))
        add("collapseId", message.collapseID.isEmpty ? nil : .string(message.collapseID))
        add("rate", Self.number(form.line("rate")))
        add("at", at.map { .string($0) })
        if form.line("when") == "local" {
            add("local", object([("time", "localTime")] + ["past", "gap", "overlap", "unknownZone"].map { ($0, $0) }))
        }
        if !form.line("quietFrom").isEmpty || !form.line("quietTo").isEmpty {
            let names = [
                ("from", "quietFrom"), ("to", "quietTo"), ("then", "quietThen"), ("unknownZone", "quietUnknownZone"),
            ]
            add("quiet", object(names))
        }
        if !form.line("capMost").isEmpty {
            let cap = [("most", "capMost"), ("hours", "capHours")].compactMap { name, field in
                Self.number(form.line(field)).map { JSONValue.Member(name, $0) }
            }
            add("cap", .object(cap))
        }
        add("experiment", experiment(content))
        return .object(members)
    }

    /// The experiment: a second content, or a part that gets nothing.
    private func experiment(_ content: JSONValue) -> JSONValue? {
        var members: [JSONValue.Member] = []
        if let holdOut = Self.number(form.line("holdOut")) { members.append(.init("holdOut", holdOut)) }
        if form.line("withB") == "yes" {
            var second = content
            for (name, field) in [("title", "titleB"), ("body", "bodyB")] where !form[field].isEmpty {
                second.set(name, .string(form[field]))
            }
            let variants = [("A", "shareA", content), ("B", "shareB", second)].map { name, field, content in
                JSONValue.object(
                    [.init("name", .string(name))]
                        + [Self.number(form.line(field)).map { JSONValue.Member("share", $0) }].compactMap(\.self)
                        + [.init("content", content)])
            }
            members.append(.init("variants", .array(variants)))
        }
        return members.isEmpty ? nil : .object(members)
    }

    private func object(_ names: [(name: String, field: String)]) -> JSONValue {
        .object(
            names.compactMap { name, field in
                form.line(field).isEmpty ? nil : .init(name, .string(form.line(field)))
            })
    }

    /// A number as the API takes it; other text stays text, so that the server names the fault. `nil` for none.
    private static func number(_ text: String) -> JSONValue? {
        text.isEmpty ? nil : Int64(text) == nil ? .string(text) : .number(text)
    }
}
