import Texts

/// The fields of the form for templates, each with its value and its fault.
struct ComposeFields {
    let form: ComposeForm
    let faults: [ComposeFault]
    let texts: Catalogue

    /// How a field is written.
    private enum Kind {
        case line
        case area
        case number
        case instant
        case clock
        /// A choice of these values; an empty one is the default.
        case choice([String])
        case check
    }

    /// Fields under one heading.
    private struct Group {
        var name: String
        var fields: [(name: String, kind: Kind)]
    }

    private static let content = [
        Group(name: "texts", fields: [("title", .line), ("subtitle", .line), ("body", .area)])
    ]
    private static let recipients = [
        Group(
            name: "to",
            fields: [
                ("to", .choice(ComposedTarget.kinds)), ("token", .line), ("app", .line), ("device", .number),
                ("person", .line), ("topic", .line), ("condition", .line), ("expression", .line), ("hub", .line),
            ])
    ]
    private static let more = [
        Group(
            name: "look",
            fields: [
                ("sound", .line), ("badge", .number), ("category", .line), ("thread", .line),
                ("level", .choice(["", "passive", "active", "time-sensitive", "critical"])), ("link", .line),
            ]),
        Group(name: "data", fields: [("data", .area), ("silent", .check)]),
        Group(
            name: "delivery",
            fields: [("ttl", .number), ("priority", .choice(["", "10", "5", "1"])), ("collapseId", .line)]),
    ]
    private static let campaign = [
        Group(
            name: "when",
            fields: [
                ("name", .line), ("when", .choice(["now", "at", "local"])), ("at", .instant), ("localTime", .instant),
                ("past", .choice(["now", "skip", "next-day"])), ("gap", .choice(["end", "shift", "skip"])),
                ("overlap", .choice(["first", "second"])), ("unknownZone", .line),
            ]),
        Group(
            name: "limits",
            fields: [
                ("rate", .number), ("quietFrom", .clock), ("quietTo", .clock),
                ("quietThen", .choice(["wait", "skip"])),
                ("quietUnknownZone", .line), ("capMost", .number), ("capHours", .number),
            ]),
        Group(
            name: "experiment",
            fields: [
                ("withB", .check), ("shareA", .number), ("shareB", .number), ("holdOut", .number), ("titleB", .line),
                ("bodyB", .area),
            ]),
    ]
    /// The values of fields in a new form.
    private static let defaults = ["unknownZone": "skip", "quietUnknownZone": "skip"]

    /// The values of the template.
    var view: [String: Any] {
        [
            "content": Self.content.map(group), "recipients": Self.recipients.map(group), "more": Self.more.map(group),
            "campaign": Self.campaign.map(group),
            "media": [
                field("media", .line), field("mediaKind", .choice(ComposedMessage.MediaKind.allCases.map(\.rawValue))),
            ],
            "actions": (0..<ComposedMessage.mostActions).flatMap { place in
                ["id", "title", "link"].map { field("action\(place).\($0)", .line) }
            },
            "locales": form.languages.map(locale), "shown": field("shown", .choice([""] + form.languages)),
            "test": field("testDevices", .line), "payload": form["payload"],
            "isOpen": form.line("to") != "" && ComposedTarget(form).expression != nil,
        ]
    }

    private func locale(_ language: String) -> [String: Any] {
        var fields = [("title", Kind.line), ("subtitle", .line), ("body", .area)].map { field("\($0).\(language)", $1) }
        for place in 0..<ComposedMessage.mostActions where !form["action\(place).id"].isEmpty {
            fields.append(field("action\(place).title.\(language)", .line))
        }
        return [
            "language": language, "fields": fields,
            "legend": texts.text("compose.group.language", ["language": language]),
            "remove": texts.text("compose.remove", ["language": language]),
        ]
    }

    private func group(_ group: Group) -> [String: Any] {
        var view: [String: Any] = [
            "legend": texts.text("compose.group.\(group.name)"), "fields": group.fields.map { field($0, $1) },
        ]
        view["note"] = texts.texts["compose.note.\(group.name)"]
        return view
    }

    /// The label of a field, by its name in the form.
    static func label(_ name: String, _ texts: Catalogue) -> String {
        let parts = name.split(separator: ".")
        guard let first = parts.first else { return "" }
        guard name.hasPrefix("action"), let digit = first.last?.wholeNumberValue, parts.count > 1 else {
            let label = texts.text("compose.field.\(first)")
            return parts.count > 1 ? "\(label) (\(parts[1]))" : label
        }
        let label = texts.text("compose.field.action.\(parts[1])", ["number": String(digit + 1)])
        return parts.count > 2 ? "\(label) (\(parts[2]))" : label
    }

    private func field(_ name: String, _ kind: Kind) -> [String: Any] {
        let value = form.values[name] ?? Self.defaults[name] ?? ""
        var view: [String: Any] = ["name": name, "label": Self.label(name, texts), "value": value]
        let base = name.hasPrefix("action") ? "" : name.prefix { $0 != "." }
        view["hint"] = texts.texts["compose.hint.\(base)"]
        view["error"] = faults.first { $0.field == name }?.text(texts)
        switch kind {
        case .line: view["line"] = ["type": "text"]
        // A number that is none is to come to the server, which says what is wrong.
        case .number: view["line"] = ["type": "text", "mode": "numeric"]
        case .instant: view["line"] = ["type": "datetime-local"]
        case .clock: view["line"] = ["type": "time"]
        case .area: view["area"] = true
        case .check: view["check"] = ["isChosen": value == "yes"]
        case .choice(let options):
            view["options"] = options.map { option in
                [
                    "value": option, "isChosen": option == value,
                    "text": texts.texts["compose.\(name).\(option)"]
                        ?? (option.isEmpty ? texts.text("compose.default") : option),
                ] as [String: Any]
            }
            view["choice"] = true
        }
        if name == "app" { view["list"] = "apps" }
        return view
    }
}
