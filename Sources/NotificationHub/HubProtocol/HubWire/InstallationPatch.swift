import PushCore

/// Changes of an installation's document.
package enum InstallationPatch {
    /// Operations in one request, at most.
    package static let mostOperations = 200

    /// Azure's patch, which is not RFC 6902: a list of `add`, `remove` and `replace`. Adding to `/tags` appends,
    /// `/tags/{tag}` is removed by value, and a template comes as JSON text in a string.
    ///
    /// - Returns: The document as changed; it is to be read again, which checks it.
    package static func apply(_ patch: JSONValue, to document: JSONValue) throws(InstallationError) -> JSONValue {
        guard let operations = patch.items else {
            throw InstallationError("", "a patch is a list of operations: op, path, value")
        }
        guard operations.count <= mostOperations else {
            throw InstallationError("", "at most \(mostOperations) operations are taken")
        }
        var document = document
        for (index, operation) in operations.enumerated() {
            let place = "/\(index)"
            guard let path = operation["path"]?.text, path.hasPrefix("/"), path.count > 1 else {
                throw InstallationError("\(place)/path", "expected a path such as /tags")
            }
            let steps = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(unescaped)
            switch operation["op"]?.text?.lowercased() {
            case "add": try add(value(operation, place), at: steps, to: &document, place)
            case "remove": try remove(steps, from: &document, place)
            case "replace":
                if steps.first == "tags" { try remove(steps, from: &document, place) }
                try add(value(operation, place), at: steps, to: &document, place)
            default: throw InstallationError("\(place)/op", "there are add, remove and replace")
            }
        }
        return document
    }

    /// A merge patch (RFC 7396). The languages of a template are found in whatever spelling the patch names them.
    package static func merge(_ patch: JSONValue, into document: JSONValue) -> JSONValue {
        merged(patch.withFoldedLanguages, into: document)
    }

    private static func merged(_ patch: JSONValue, into document: JSONValue) -> JSONValue {
        guard let members = patch.members else { return patch }
        var result = document.members == nil ? JSONValue.object([]) : document
        for member in members {
            result.set(
                member.name, member.value == .null ? nil : merged(member.value, into: result[member.name] ?? .null))
        }
        return result
    }

    /// RFC 6901, section 3.
    private static func unescaped(_ step: Substring) -> String {
        String(step).replacing("~1", with: "/").replacing("~0", with: "~")
    }

    private static func value(_ operation: JSONValue, _ place: String) throws(InstallationError) -> JSONValue {
        guard let value = operation["value"] else { throw InstallationError("\(place)/value", "the value is missing") }
        return value
    }

    /// JSON in a string, as .NET and Java send it, or JSON itself.
    private static func parsed(_ value: JSONValue, _ place: String) throws(InstallationError) -> JSONValue {
        guard let text = value.text else { return value }
        do { return try JSONValue(text: text) } catch {
            throw InstallationError("\(place)/value", "the string is to hold JSON; \(error)")
        }
    }

    private static func add(
        _ value: JSONValue, at steps: [String], to document: inout JSONValue, _ place: String
    ) throws(InstallationError) {
        switch (steps[0], steps.count) {
        case ("tags", 1):
            var tags = document["tags"]?.items ?? []
            tags += value.items ?? [value]
            document.set("tags", .array(tags))
        case ("tags", 2):
            var tags = document["tags"]?.items ?? []
            tags.append(value.text.map { $0.isEmpty ? .string(steps[1]) : value } ?? value)
            document.set("tags", .array(tags))
        case ("templates", 1), ("secondaryTiles", 1), ("pushVariables", 1):
            document.set(steps[0], try parsed(value, place))
        case ("templates", 2), ("secondaryTiles", 2):
            let value = try parsed(value, place)
            try change(steps[0], of: &document) { $0.set(steps[1], value) }
        case ("pushVariables", 2): try change(steps[0], of: &document) { $0.set(steps[1], value) }
        case ("templates", 3), ("secondaryTiles", 3):
            let isText = steps[2] == "body" || steps[2] == "expiry" || steps[2] == "pushChannel"
            let value = isText ? value : try parseTagsOrJSON(value, name: steps[2], place: place)
            try changePart(steps, of: &document, place: place) { $0.set(steps[2], value) }
        case (_, 1): document.set(steps[0], value)
        default: throw InstallationError("\(place)/path", "there is no such path in an installation")
        }
    }

    /// `tags` of a template may come as one tag.
    private static func parseTagsOrJSON(_ value: JSONValue, name: String, place: String) throws(InstallationError)
        -> JSONValue
    {
        guard name == "tags", let text = value.text, !text.hasPrefix("[") else { return try parsed(value, place) }
        return .array([value])
    }

    private static func remove(
        _ steps: [String], from document: inout JSONValue, _ place: String
    ) throws(InstallationError) {
        switch (steps[0], steps.count) {
        case (_, 1): document.set(steps[0], nil)
        case ("tags", 2):
            let folded = steps[1].lowercased()
            let left = (document["tags"]?.items ?? []).filter { $0.text?.lowercased() != folded }
            document.set("tags", left.isEmpty ? nil : .array(left))
        case (_, 2): try change(steps[0], of: &document) { $0.set(steps[1], nil) }
        case ("templates", 3), ("secondaryTiles", 3):
            try changePart(steps, of: &document, place: place) { $0.set(steps[2], nil) }
        default: throw InstallationError("\(place)/path", "there is no such path in an installation")
        }
    }

    private static func change(
        _ name: String, of document: inout JSONValue, _ body: (inout JSONValue) throws(InstallationError) -> Void
    ) throws(InstallationError) {
        var part = document[name]?.members.map { JSONValue.object($0) } ?? .object([])
        try body(&part)
        document.set(name, part.members?.isEmpty == true ? nil : part)
    }

    private static func changePart(
        _ steps: [String], of document: inout JSONValue, place: String, body: (inout JSONValue) -> Void
    ) throws(InstallationError) {
        try change(steps[0], of: &document) { (all: inout JSONValue) throws(InstallationError) in
            guard var part = all[steps[1]] else {
                throw InstallationError("\(place)/path", "there is no \(steps[1]) in \(steps[0])")
            }
            body(&part)
            all.set(steps[1], part)
        }
    }
}

extension JSONValue {
    /// The patch with the names of templates' languages as an installation's document has them.
    fileprivate var withFoldedLanguages: JSONValue {
        guard let templates = self["templates"]?.members else { return self }
        var patch = self
        patch.set(
            "templates",
            .object(
                templates.map { template in
                    guard let locales = template.value["locales"]?.members else { return template }
                    var value = template.value
                    value.set("locales", .object(locales.map { .init(LanguageTag.folded($0.name), $0.value) }))
                    return .init(template.name, value)
                }))
        return patch
    }
}
