import PushCore

/// Reads and writes installations as Azure's clients do, with members of our own beside Azure's: `locale`, `timeZone`,
/// `country`, `appVersion`, `environment`. A member that is `null` is one that is not there.
package enum InstallationJSON {
    /// Tags of an installation, at most.
    package static let mostTags = 60
    /// Templates of an installation, at most.
    package static let mostTemplates = 50
    /// Characters of an id, at most.
    package static let longestID = 255

    /// The members of an installation; others are not looked at.
    package static let members: Set<String> = [
        "installationId", "platform", "pushChannel", "userId", "expirationTime", "tags", "templates", "pushVariables",
        "secondaryTiles", "registration", "locale", "timeZone", "country", "appVersion", "environment",
    ]

    /// Reads a whole installation.
    ///
    /// - Parameter id: The id in the address; where the document names another, that is a fault.
    package static func read(_ tree: JSONValue, id: String?) throws(InstallationError) -> Installation {
        guard case .object = tree else { throw InstallationError("", "an installation is a JSON object") }
        let named = try text(tree, "installationId")
        guard let id = id ?? named else { throw InstallationError("/installationId", "the id is missing") }
        try check(id: id)
        if let named, named.lowercased() != id.lowercased() {
            throw InstallationError("/installationId", "the address names \(id), the document another")
        }
        guard let platformText = try text(tree, "platform") else {
            throw InstallationError("/platform", "the platform is missing; one of \(platforms)")
        }
        guard let platform = HubPlatform(text: platformText) else {
            throw InstallationError("/platform", "there is no platform \"\(platformText)\"; one of \(platforms)")
        }
        var result = Installation(id: id, platform: platform, channel: try channel(tree, platform))
        result.userID = try text(tree, "userId")
        if let user = result.userID, user.isEmpty || user.utf8.count > longestID {
            throw InstallationError("/userId", "a user's id has 1 to \(longestID) bytes")
        }
        result.tags = try tags(tree["tags"], "/tags")
        result.templates = try templates(tree)
        try checkForm(of: result.templates, platform)
        result.pushVariables = try variables(tree)
        if let tiles = tree["secondaryTiles"], tiles != .null {
            // The document has them one level deeper, and is to be read again.
            guard tiles.depth < JSONValue.maximumDepth else {
                throw InstallationError(
                    "/secondaryTiles",
                    "at most \(JSONValue.maximumDepth - 1) objects and lists may stand inside one another")
            }
            result.secondaryTiles = tiles
        }
        result.expiresAt = try expiry(tree)
        result.isRegistration = tree["registration"]?.isTrue ?? false
        result.locale = try short(tree, "locale")
        result.timeZone = try short(tree, "timeZone")
        result.country = try short(tree, "country")
        result.appVersion = try short(tree, "appVersion")
        if let name = try short(tree, "environment") {
            guard let environment = PushEnvironment(rawValue: name.lowercased()) else {
                throw InstallationError("/environment", "\"\(name)\" is not sandbox or production")
            }
            result.environment = environment
        }
        if let version = result.appVersion, AppVersion(version) == nil {
            throw InstallationError("/appVersion", "\"\(version)\" is no version such as 2.1.0")
        }
        return result
    }

    private static var platforms: String { HubPlatform.allCases.map(\.text).joined(separator: ", ") }

    /// Refuses ids that are not allowed in an address.
    package static func check(id: String) throws(InstallationError) {
        guard !id.isEmpty, id.utf8.count <= longestID,
            id.unicodeScalars.allSatisfy({ TagName.isTagCharacter($0) || $0 == "=" || $0 == "{" || $0 == "}" })
        else {
            throw InstallationError(
                "/installationId", "an id has 1 to \(longestID) letters, digits and _ @ # . : - =")
        }
    }

    private static func text(_ tree: JSONValue, _ name: String) throws(InstallationError) -> String? {
        switch tree[name] {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw InstallationError("/\(name)", "this is to be a string")
        }
    }

    private static func short(_ tree: JSONValue, _ name: String) throws(InstallationError) -> String? {
        guard let text = try text(tree, name) else { return nil }
        guard !text.isEmpty, text.utf8.count <= 64 else {
            throw InstallationError("/\(name)", "this is to have 1 to 64 bytes")
        }
        return text
    }

    private static func channel(
        _ tree: JSONValue, _ platform: HubPlatform
    ) throws(InstallationError) -> PushChannel? {
        guard let value = tree["pushChannel"], value != .null else { return nil }
        if platform == .browser {
            guard let endpoint = value["endpoint"]?.text, let p256dh = value["p256dh"]?.text,
                let auth = value["auth"]?.text, endpoint.utf8.count <= 4096
            else {
                throw InstallationError("/pushChannel", "a browser's channel is an object: endpoint, p256dh, auth")
            }
            return .browser(endpoint: endpoint, p256dh: p256dh, auth: auth)
        }
        guard let handle = value.text else { throw InstallationError("/pushChannel", "this is to be a string") }
        guard !handle.isEmpty, handle.utf8.count <= 4096 else {
            throw InstallationError("/pushChannel", "a channel has 1 to 4096 bytes")
        }
        return .handle(handle)
    }

    /// Reads a list of tags; each counts once.
    static func tags(_ value: JSONValue?, _ path: String) throws(InstallationError) -> [TagName] {
        guard let value, value != .null else { return [] }
        guard let items = value.items else { throw InstallationError(path, "this is to be a list of strings") }
        var result: [TagName] = []
        var known: Set<TagName> = []
        for (index, item) in items.enumerated() {
            guard let text = item.text else { throw InstallationError("\(path)/\(index)", "a tag is a string") }
            guard let tag = TagName(text) else {
                throw InstallationError("\(path)/\(index)", TagName.fault(in: text) ?? "this is no tag")
            }
            if known.insert(tag).inserted { result.append(tag) }
        }
        guard result.count <= mostTags else {
            throw InstallationError(path, "there are \(result.count) tags; at most \(mostTags) are taken")
        }
        return result
    }

    private static func templates(_ tree: JSONValue) throws(InstallationError) -> [InstallationTemplate] {
        guard let value = tree["templates"], value != .null else { return [] }
        guard let members = value.members else { throw InstallationError("/templates", "this is to be an object") }
        guard members.count <= mostTemplates else {
            throw InstallationError("/templates", "at most \(mostTemplates) templates are taken")
        }
        var result: [InstallationTemplate] = []
        for member in members { result.append(try template(member.name, member.value)) }
        return result
    }

    /// Refuses XML where the push service takes JSON alone.
    static func checkForm(of templates: [InstallationTemplate], _ platform: HubPlatform) throws(InstallationError) {
        guard platform != .wns, platform != .mpns else { return }
        for template in templates {
            let bodies = [template.body] + template.locales.compactMap(\.value.text)
            guard !bodies.contains(where: TemplateBody.isXML) else {
                throw InstallationError(
                    "/templates/\(template.name)/body", "the body is XML; \(platform.text) takes a JSON object")
            }
        }
    }

    static func template(_ name: String, _ value: JSONValue) throws(InstallationError) -> InstallationTemplate {
        let path = "/templates/\(name)"
        guard !name.isEmpty, name.count <= 200 else {
            throw InstallationError(path, "a template's name has 1 to 200 characters")
        }
        guard let body = value["body"]?.text else { throw InstallationError("\(path)/body", "the body is missing") }
        var template = InstallationTemplate(name: name, body: body)
        if let headers = value["headers"], headers != .null {
            guard let members = headers.members, members.allSatisfy({ $0.value.text != nil }) else {
                throw InstallationError("\(path)/headers", "this is to be an object of strings")
            }
            template.headers = members
        }
        template.expiry = value["expiry"]?.text
        template.tags = try tags(value["tags"], "\(path)/tags")
        template.locales = try locales(value["locales"], path)
        do { _ = try PushTemplate(template) } catch {
            throw InstallationError("\(path)/\(error.part)", error.message)
        }
        for member in template.locales {
            do { _ = try PushTemplate(template, locale: member.name) } catch {
                throw InstallationError("\(path)/locales/\(member.name)/\(error.part)", error.message)
            }
        }
        return template
    }

    /// Reads `{"de":{"body":"…"}}`.
    private static func locales(_ value: JSONValue?, _ path: String) throws(InstallationError) -> [JSONValue.Member] {
        guard let value, value != .null else { return [] }
        guard let members = value.members, members.count <= mostTemplates else {
            throw InstallationError("\(path)/locales", "this is to be an object of at most \(mostTemplates) languages")
        }
        var result: [JSONValue.Member] = []
        for member in members {
            guard let body = member.value["body"]?.text else {
                throw InstallationError("\(path)/locales/\(member.name)/body", "the body is missing")
            }
            let name = LanguageTag.folded(member.name)
            guard !result.contains(where: { $0.name == name }) else {
                throw InstallationError("\(path)/locales/\(member.name)", "this language is there twice")
            }
            result.append(.init(name, .string(body)))
        }
        return result
    }

    private static func variables(_ tree: JSONValue) throws(InstallationError) -> [String: String] {
        guard let value = tree["pushVariables"], value != .null else { return [:] }
        guard let members = value.members else { throw InstallationError("/pushVariables", "this is to be an object") }
        var result: [String: String] = [:]
        for member in members {
            guard let text = member.value.text else {
                throw InstallationError("/pushVariables/\(member.name)", "this is to be a string")
            }
            result[member.name] = text
        }
        return result
    }

    private static func expiry(_ tree: JSONValue) throws(InstallationError) -> Timestamp? {
        guard let text = try text(tree, "expirationTime") else { return nil }
        guard let instant = WireTime.read(text) else {
            throw InstallationError("/expirationTime", "\"\(text)\" is no instant such as 2030-01-01T00:00:00Z")
        }
        return instant < WireTime.noExpiry ? instant : nil
    }

    /// The installation as it was put, without what the hub knows of it.
    package static func document(_ installation: Installation) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("installationId", .string(installation.id)), .init("platform", .string(installation.platform.text)),
        ]
        func add(_ name: String, _ text: String?) {
            if let text { members.append(.init(name, .string(text))) }
        }
        switch installation.channel {
        case .handle(let handle): add("pushChannel", handle)
        case .browser(let endpoint, let p256dh, let auth):
            members.append(
                .init(
                    "pushChannel",
                    .object([
                        .init("endpoint", .string(endpoint)), .init("p256dh", .string(p256dh)),
                        .init("auth", .string(auth)),
                    ])))
        case nil: break
        }
        add("userId", installation.userID)
        add("expirationTime", installation.expiresAt.map(WireTime.write))
        if !installation.tags.isEmpty {
            members.append(.init("tags", .array(installation.tags.map { .string($0.text) })))
        }
        if !installation.templates.isEmpty {
            members.append(
                .init("templates", .object(installation.templates.map { .init($0.name, document($0)) })))
        }
        if !installation.pushVariables.isEmpty {
            members.append(
                .init(
                    "pushVariables",
                    .object(
                        installation.pushVariables.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }
                    )))
        }
        if let tiles = installation.secondaryTiles { members.append(.init("secondaryTiles", tiles)) }
        if installation.isRegistration { members.append(.init("registration", .boolean(true))) }
        add("locale", installation.locale)
        add("timeZone", installation.timeZone)
        add("country", installation.country)
        add("appVersion", installation.appVersion)
        add("environment", installation.environment?.rawValue)
        return .object(members)
    }

    static func document(_ template: InstallationTemplate) -> JSONValue {
        var members: [JSONValue.Member] = [.init("body", .string(template.body))]
        if !template.headers.isEmpty { members.append(.init("headers", .object(template.headers))) }
        if let expiry = template.expiry { members.append(.init("expiry", .string(expiry))) }
        if !template.locales.isEmpty {
            members.append(
                .init("locales", .object(template.locales.map { .init($0.name, .object([.init("body", $0.value)])) })))
        }
        if !template.tags.isEmpty {
            members.append(.init("tags", .array(template.tags.map { .string($0.text) })))
        }
        return .object(members)
    }

    /// The installation as Azure answers for it: without an expiry it is in the year 9999, and each template has its
    /// own name as a tag.
    package static func answer(_ installation: Installation, isExpired: Bool, updatedAt: Timestamp?) -> JSONValue {
        var tree = document(installation)
        tree.set("pushChannelExpired", .boolean(isExpired))
        if installation.expiresAt == nil { tree.set("expirationTime", .string(WireTime.never)) }
        if let updatedAt { tree.set("lastUpdate", .string(WireTime.write(updatedAt))) }
        guard let templates = tree["templates"]?.members else { return tree }
        let named = templates.map { member in
            var value = member.value
            value.set("tags", .array((value["tags"]?.items ?? []) + [.string(member.name)]))
            return JSONValue.Member(member.name, value)
        }
        tree.set("templates", .object(named))
        return tree
    }
}
