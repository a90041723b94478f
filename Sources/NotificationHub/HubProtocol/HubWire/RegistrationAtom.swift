import PushCore

/// A registration as the older clients of Azure write it: an entry of ATOM with a description of its push service's
/// own.
///
/// A registration is an installation with one template or none; where it has one, native sends pass it by.
package enum RegistrationAtom {
    /// A push service, with the element names of its descriptions.
    private struct Kind {
        var platform: HubPlatform
        var prefix: String
        var channel: String

        /// The element of header fields, which templates of Windows always have: their clients read no description
        /// without it.
        var headers: String {
            switch platform {
            case .wns: "Wns"
            case .mpns: "Mpns"
            default: "Apns"
            }
        }
        var isOfWindows: Bool { platform == .wns || platform == .mpns }
    }

    private static let kinds: [Kind] = [
        Kind(platform: .apns, prefix: "Apple", channel: "DeviceToken"),
        Kind(platform: .fcmv1, prefix: "FcmV1", channel: "FcmV1RegistrationId"),
        Kind(platform: .gcm, prefix: "Gcm", channel: "GcmRegistrationId"),
        Kind(platform: .wns, prefix: "Windows", channel: "ChannelUri"),
        Kind(platform: .mpns, prefix: "Mpns", channel: "ChannelUri"),
        Kind(platform: .adm, prefix: "Adm", channel: "AdmRegistrationId"),
        Kind(platform: .baidu, prefix: "Baidu", channel: "BaiduUserId"),
        Kind(platform: .browser, prefix: "Browser", channel: "Endpoint"),
    ]

    /// Reads an entry.
    ///
    /// - Parameter id: The registration's id, which the address has.
    package static func read(_ bytes: [UInt8], id: String) throws(InstallationError) -> Installation {
        let entry: XMLElement
        do { entry = try XMLElement(bytes) } catch { throw InstallationError("", "the body is no XML: \(error)") }
        let content = entry.name == "entry" ? entry["content"] : entry
        guard let description = content?.children.first ?? (entry.name == "entry" ? nil : entry),
            let kind = kinds.first(where: { description.name.hasPrefix($0.prefix) }),
            description.name.hasSuffix("RegistrationDescription")
        else {
            throw InstallationError(
                "/content",
                "expected a description such as AppleRegistrationDescription or GcmTemplateRegistrationDescription")
        }
        guard let channel = description.text(kind.channel), !channel.isEmpty, channel.utf8.count <= 4096 else {
            throw InstallationError("/content/\(kind.channel)", "the channel is missing")
        }
        try InstallationJSON.check(id: id)
        var result = Installation(id: id, platform: kind.platform, channel: .handle(channel))
        result.isRegistration = true
        if kind.platform == .browser {
            result.channel = .browser(
                endpoint: channel, p256dh: description.text("P256DH") ?? "", auth: description.text("Auth") ?? "")
        } else if kind.platform == .baidu, let second = description.text("BaiduChannelId") {
            result.channel = .handle("\(channel)-\(second)")
        }
        let tags = (description.text("Tags") ?? "").split(separator: ",").map { JSONValue.string(trimmed($0)) }
        result.tags = try InstallationJSON.tags(.array(tags), "/content/Tags")
        if let text = description.text("PushVariables"), !text.isEmpty {
            let tree: JSONValue
            do { tree = try JSONValue(text: text) } catch {
                throw InstallationError("/content/PushVariables", "this is to be JSON: \(error)")
            }
            for member in tree.members ?? [] { result.pushVariables[member.name] = member.value.text }
        }
        if description.name.hasSuffix("TemplateRegistrationDescription") {
            result.templates = [try template(description)]
            try InstallationJSON.checkForm(of: result.templates, kind.platform)
        }
        if kind.isOfWindows, let tile = description.text("SecondaryTileName"), !tile.isEmpty {
            result.secondaryTiles = .string(tile)
        }
        return result
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    private static func template(_ description: XMLElement) throws(InstallationError) -> InstallationTemplate {
        guard let body = description.text("BodyTemplate"), !body.isEmpty else {
            throw InstallationError("/content/BodyTemplate", "the template's body is missing")
        }
        let name = description.text("TemplateName").flatMap { $0.isEmpty ? nil : $0 } ?? "template"
        let fields = description.children.first { $0.name.hasSuffix("Headers") }
        let headers = (fields?.children ?? []).compactMap { header -> JSONValue.Member? in
            guard let name = header.text("Header"), let value = header.text("Value") else { return nil }
            return .init(name, .string(value))
        }
        var members: [JSONValue.Member] = [.init("body", .string(body)), .init("headers", .object(headers))]
        if let expiry = description.text("Expiry"), !expiry.isEmpty { members.append(.init("expiry", .string(expiry))) }
        return try InstallationJSON.template(name, .object(members))
    }

    /// An entry, with its version as the entity tag.
    ///
    /// - Parameter address: The absolute address of the registration.
    package static func entry(_ installation: Installation, version: Int64, updatedAt: Timestamp, address: String)
        -> XMLElement
    {
        let updated = WireTime.write(updatedAt)
        return XMLElement(
            "entry",
            attributes: [
                ("xmlns", AzureXML.atom), ("m:etag", "W/\"\(version)\""),
                ("xmlns:m", "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"),
            ],
            children: [
                XMLElement("id", address), element("title", content: installation.id, attributes: [("type", "text")]),
                XMLElement("published", updated), XMLElement("updated", updated),
                XMLElement("link", attributes: [("rel", "self"), ("href", address)], children: []),
                XMLElement(
                    "content", attributes: [("type", "application/xml")],
                    children: [description(installation, version: version)]),
            ])
    }

    private static func element(_ name: String, content: String, attributes: [(String, String)]) -> XMLElement {
        var element = XMLElement(name, attributes: attributes, children: [])
        element.content = content
        return element
    }

    /// The order of the elements is that in which clients read them.
    private static func description(_ installation: Installation, version: Int64) -> XMLElement {
        let kind = kinds.first { $0.platform == installation.platform } ?? kinds[0]
        var children = [
            XMLElement("ETag", String(version)),
            XMLElement("ExpirationTime", installation.expiresAt.map(WireTime.write) ?? WireTime.never),
            XMLElement("RegistrationId", installation.id),
        ]
        var tags = installation.tags.map(\.text)
        if !installation.isRegistration {
            tags.append("$InstallationId:{\(installation.id)}")
            if let user = installation.userID { tags.append("$UserId:{\(user)}") }
        }
        if !tags.isEmpty { children.append(XMLElement("Tags", tags.joined(separator: ","))) }
        if !installation.pushVariables.isEmpty {
            children.append(
                XMLElement(
                    "PushVariables",
                    JSONValue.object(
                        installation.pushVariables.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }
                    ).json))
        }
        switch installation.channel {
        case .handle(let handle) where kind.platform == .baidu:
            // The user's id precedes the hyphen, the channel's follows it.
            let parts = handle.split(separator: "-", maxSplits: 1).map(String.init)
            children += zip([kind.channel, "BaiduChannelId"], parts).map { XMLElement($0, $1) }
        case .handle(let handle): children.append(XMLElement(kind.channel, handle))
        case .browser(let endpoint, let p256dh, let auth):
            children += [XMLElement("Endpoint", endpoint), XMLElement("P256DH", p256dh), XMLElement("Auth", auth)]
        case nil: break
        }
        let template = installation.isRegistration ? installation.templates.first : nil
        if installation.isRegistration, let tile = installation.secondaryTiles?.text {
            children.append(XMLElement("SecondaryTileName", tile))
        }
        if let template { children += elements(template, kind) }
        let middle = template == nil ? "" : "Template"
        return XMLElement(
            "\(kind.prefix)\(middle)RegistrationDescription",
            attributes: [
                ("xmlns:i", "http://www.w3.org/2001/XMLSchema-instance"), ("xmlns", AzureXML.namespace),
            ], children: children)
    }

    /// Windows has its header fields before the name, the others behind it.
    private static func elements(_ template: InstallationTemplate, _ kind: Kind) -> [XMLElement] {
        var body = XMLElement("BodyTemplate", template.body)
        body.isVerbatim = true
        let name = XMLElement("TemplateName", template.name)
        let expiry = template.expiry.map { [XMLElement("Expiry", $0)] } ?? []
        let headers = XMLElement(
            "\(kind.headers)Headers",
            children: template.headers.map { header in
                XMLElement(
                    "\(kind.headers)Header",
                    children: [XMLElement("Header", header.name), XMLElement("Value", header.value.text ?? "")])
            })
        guard !kind.isOfWindows else { return [body, headers, name] + expiry }
        return [body] + expiry + [name] + (template.headers.isEmpty && kind.platform != .apns ? [] : [headers])
    }

    /// A feed of entries.
    package static func feed(_ entries: [XMLElement], address: String, updatedAt: Timestamp) -> XMLElement {
        XMLElement(
            "feed", attributes: [("xmlns", AzureXML.atom)],
            children: [
                element("title", content: "Registrations", attributes: [("type", "text")]), XMLElement("id", address),
                XMLElement("updated", WireTime.write(updatedAt)),
                XMLElement("link", attributes: [("rel", "self"), ("href", address)], children: []),
            ] + entries)
    }
}
