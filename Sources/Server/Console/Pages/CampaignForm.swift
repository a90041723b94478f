import Foundation
import PushCore
import PushServer
import Texts

/// The form of a campaign's plan, which becomes the document of `POST /v1/hubs/{hub}/campaigns`.
struct CampaignForm {
    /// Fields under one heading.
    struct Group {
        let name: String
        let fields: [FormField]
    }

    static let groups = [
        Group(
            name: "content",
            fields: [
                FormField(name: "title"), FormField(name: "subtitle"), FormField(name: "body", kind: .area(rows: 3)),
                FormField(name: "link", kind: .line(type: "url")), FormField(name: "image", kind: .line(type: "url")),
                FormField(name: "sound"), FormField(name: "category"),
                FormField(name: "level", kind: .choice(["", "passive", "active", "time-sensitive", "critical"])),
                FormField(name: "silent", kind: .check),
            ]),
        Group(name: "audience", fields: [FormField(name: "name"), FormField(name: "audience", kind: .area(rows: 2))]),
        Group(
            name: "schedule",
            fields: [
                FormField(name: "when", kind: .choice(["now", "at", "local"])),
                FormField(name: "at", kind: .line(type: "datetime-local")),
                FormField(name: "past", kind: .choice(["now", "skip", "next-day"])),
                FormField(name: "gap", kind: .choice(["end", "shift", "skip"])),
                FormField(name: "overlap", kind: .choice(["first", "second"])), FormField(name: "localZone"),
            ]),
        Group(
            name: "waves",
            fields: [
                FormField(name: "rate", kind: .line(type: "number")),
                FormField(name: "ttl", kind: .line(type: "number")),
                FormField(name: "priority", kind: .choice(["", "10", "5", "1"])), FormField(name: "collapseId"),
            ]),
        Group(
            name: "limits",
            fields: [
                FormField(name: "quietFrom", kind: .line(type: "time")),
                FormField(name: "quietTo", kind: .line(type: "time")),
                FormField(name: "quietThen", kind: .choice(["wait", "skip"])), FormField(name: "quietZone"),
                FormField(name: "capMost", kind: .line(type: "number")),
                FormField(name: "capHours", kind: .line(type: "number")),
            ]),
        Group(
            name: "more",
            fields: [
                FormField(name: "more", kind: .area(rows: 6)), FormField(name: "installation"),
            ]),
    ]

    /// The values that fields have at first.
    private static let first = [
        "when": "now", "past": "now", "gap": "end", "overlap": "first", "localZone": "skip", "quietThen": "wait",
        "quietZone": "skip",
    ]

    private(set) var values: [String: String]
    /// The faults, by the names of fields.
    private(set) var faults: [String: String] = [:]

    /// An empty form.
    init(audience: String?) {
        values = Self.first
        values["audience"] = audience
    }

    /// A form that was filled in.
    init(_ form: FormFields) {
        values = [:]
        for field in Self.groups.flatMap(\.fields) {
            values[field.name] = (form.first(field.name) ?? "").replacing("\r\n", with: "\n")
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// The value of a field; `nil` for an empty one.
    func value(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The fields as templates show them.
    func view(_ texts: Catalogue) -> [[String: Any]] {
        Self.groups.map { group in
            [
                "name": texts.text("campaign.group.\(group.name)"),
                "fields": group.fields.map {
                    $0.view(values[$0.name] ?? "", fault: faults[$0.name], prefix: "campaign.field", texts)
                },
            ]
        }
    }

    // MARK: Document

    /// The campaign's document; `nil` where a field is wrong, which is then in ``faults``.
    ///
    /// - Parameter instant: Makes an instant of a time in the reader's zone.
    mutating func document(_ texts: Catalogue, instant: (String) -> String) -> JSONValue? {
        var document = JSONValue.object([])
        var content = JSONValue.object([])
        for name in ["title", "subtitle", "body", "link", "image", "sound", "category", "level"] {
            content.set(name, value(name).map { .string($0) })
        }
        if value("silent") != nil { content.set("silent", .boolean(true)) }
        for name in ["name", "audience", "collapseId"] { document.set(name, value(name).map { .string($0) }) }
        if content.members?.isEmpty == false { document.set("content", content) }
        for name in ["rate", "ttl", "priority"] { document.set(name, number(name, texts)) }
        setSchedule(of: &document, texts, instant: instant)
        setLimits(of: &document, texts)
        if let text = value("more") {
            do { document.merge(try JSONValue(object: Array(text.utf8))) } catch {
                faults["more"] = texts.text("campaign.fault.json", ["fault": "\(error)"])
            }
        }
        return faults.isEmpty ? document : nil
    }

    private mutating func number(_ name: String, _ texts: Catalogue) -> JSONValue? {
        guard let text = value(name) else { return nil }
        guard Int64(text) != nil else {
            faults[name] = texts.text("campaign.fault.number")
            return nil
        }
        return .number(text)
    }

    private mutating func setSchedule(
        of document: inout JSONValue, _ texts: Catalogue, instant: (String) -> String
    ) {
        guard let when = value("when"), when != "now" else { return }
        guard let text = value("at") else {
            faults["at"] = texts.text("campaign.fault.time")
            return
        }
        guard when == "local" else {
            document.set("at", .string(instant(text)))
            return
        }
        let names = [("past", "past"), ("gap", "gap"), ("overlap", "overlap"), ("unknownZone", "localZone")]
        document.set(
            "local",
            .object(
                [.init("time", .string(text.count == 16 ? text + ":00" : text))]
                    + names.map { .init($0.0, .string(values[$0.1] ?? "")) }))
    }

    private mutating func setLimits(of document: inout JSONValue, _ texts: Catalogue) {
        if value("quietFrom") != nil || value("quietTo") != nil {
            let names = [("from", "quietFrom"), ("to", "quietTo"), ("then", "quietThen"), ("unknownZone", "quietZone")]
            document.set("quiet", .object(names.map { .init($0.0, .string(values[$0.1] ?? "")) }))
        }
        if value("capMost") != nil || value("capHours") != nil {
            document.set(
                "cap",
                .object([
                    .init("most", number("capMost", texts) ?? .null),
                    .init("hours", number("capHours", texts) ?? .null),
                ]))
        }
    }

    // MARK: Refusals

    /// The fields of members of the document.
    private static let members = [
        "/local/time": "at", "/local/past": "past", "/local/gap": "gap", "/local/overlap": "overlap",
        "/local/unknownZone": "localZone", "/quiet/from": "quietFrom", "/quiet/to": "quietTo",
        "/quiet/then": "quietThen", "/quiet/unknownZone": "quietZone", "/cap/most": "capMost",
        "/cap/hours": "capHours", "/content": "title", "/installationId": "installation",
    ]

    /// Puts the message of a refusal at its field.
    ///
    /// - Returns: The message where it belongs to no field.
    mutating func note(_ refusal: ConsoleAPI.Answer) -> String? {
        let pointer = refusal.json["pointer"]?.text ?? ""
        if refusal.json["code"]?.text == "invalidExpression" {
            faults["audience"] = refusal.message
            return nil
        }
        guard !pointer.isEmpty else { return refusal.message }
        let parts = pointer.split(separator: "/")
        let name = Self.members[pointer] ?? (parts.count <= 2 ? parts.last.map(String.init) : nil)
        if let name, name != "more", values[name] != nil {
            faults[name] = refusal.message
        } else {
            faults["more"] = "\(pointer): \(refusal.message)"
        }
        return nil
    }
}

extension JSONValue {
    /// Sets the members of another object in this one; objects within them are merged in the same way.
    mutating func merge(_ other: JSONValue) {
        for member in other.members ?? [] {
            guard var inner = self[member.name], inner.members != nil, member.value.members != nil else {
                set(member.name, member.value)
                continue
            }
            inner.merge(member.value)
            set(member.name, inner)
        }
    }
}
