import PushCore

/// Validates an installation when it is put: a value with which a send would fail silently is refused.
///
/// Installations put before these rules stay readable; ``InstallationJSON`` checks none of them.
package enum InstallationValidator {
    /// Refuses such values.
    ///
    /// - Parameters:
    ///   - before: What it takes the place of; what it has of that is not looked at.
    ///   - isZone: Whether there is a time zone of a name.
    /// - Throws: which value was wrong, and what would be right.
    package static func check(
        _ installation: Installation, insteadOf before: Installation? = nil, isZone: (String) -> Bool
    ) throws(InstallationError) {
        if installation.channel != before?.channel || installation.platform != before?.platform {
            try check(installation.channel, of: installation)
        }
        if let zone = installation.timeZone, zone != before?.timeZone, !isZone(zone) {
            throw InstallationError("/timeZone", "there is no time zone \"\(zone)\"; say one such as Europe/Vienna")
        }
        if installation.templates != before?.templates ?? [] { try checkSizes(of: installation.templates) }
        for template in installation.templates where !(before?.templates.contains(template) ?? false) {
            try check(template)
        }
        if installation.pushVariables != before?.pushVariables ?? [:] {
            try check(variables: installation.pushVariables)
        }
    }

    private static func check(_ channel: PushChannel?, of installation: Installation) throws(InstallationError) {
        switch channel {
        // Azure takes any text for a browser in a registration, and its SDKs send what is no address.
        case .browser where installation.isRegistration: break
        case .handle(let token) where installation.platform == .apns:
            guard token.utf8.allSatisfy(isHexadecimal) else {
                throw InstallationError("/pushChannel", "a device token is hexadecimal digits")
            }
        case .browser(let endpoint, let p256dh, let auth):
            guard isEndpoint(endpoint) else {
                throw InstallationError("/pushChannel/endpoint", "an endpoint is an address that begins with https://")
            }
            do { _ = try RecipientPublicKey(p256dh: p256dh, auth: auth) } catch {
                throw InstallationError("/pushChannel/\(error == .point ? "p256dh" : "auth")", "\(error)")
            }
        case .handle, nil: break
        }
    }

    /// Beginnings of addresses without TLS: of this machine, where a push service may be while one develops. Whether it
    /// is asked there is up to the server's configuration.
    private static let plain = ["http://127.0.0.1", "http://[::1]", "http://localhost"]

    private static func isEndpoint(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        let folded = text.lowercased()
        if folded.hasPrefix("https://") { return text.utf8.count > 8 }
        return plain.contains { folded.hasPrefix($0) && [":", "/"].contains(folded.dropFirst($0.count).prefix(1)) }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    /// Refuses two templates of one name, and more bytes of templates than are taken.
    private static func checkSizes(of templates: [InstallationTemplate]) throws(InstallationError) {
        var names: Set<String> = []
        for template in templates where !names.insert(template.name).inserted {
            throw InstallationError("/templates/\(template.name)", "this template is there twice")
        }
        let bytes = templates.reduce(0) { $0 + $1.byteCount }
        guard bytes <= TemplateLimits.templateBytes else {
            throw InstallationError(
                "/templates",
                "the templates have \(bytes) bytes together; at most \(TemplateLimits.templateBytes) are taken")
        }
    }

    /// Refuses more push variables, or larger ones, than are taken.
    private static func check(variables: [String: String]) throws(InstallationError) {
        guard variables.count <= TemplateLimits.properties else {
            throw InstallationError(
                "/pushVariables",
                "there are \(variables.count) push variables; at most \(TemplateLimits.properties) are taken")
        }
        let bytes = variables.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard bytes <= TemplateLimits.propertyBytes else {
            throw InstallationError(
                "/pushVariables",
                "the push variables have \(bytes) bytes together; at most \(TemplateLimits.propertyBytes) are taken")
        }
    }

    /// Refuses more expressions, or longer ones, than are taken, in any language.
    private static func checkLimits(of template: InstallationTemplate, at path: String) throws(InstallationError) {
        for locale in [nil] + template.locales.map({ Optional($0.name) }) {
            do { try PushTemplate(template, locale: locale).checkLimits() } catch {
                let place = locale.map { "locales/\($0)/" } ?? ""
                throw InstallationError("\(path)/\(place)\(error.part)", error.message)
            }
        }
    }

    /// Looks at what stands in a template as it will be sent; an expression is what the properties make of it.
    private static func check(_ template: InstallationTemplate) throws(InstallationError) {
        let path = "/templates/\(template.name)"
        try checkLimits(of: template, at: path)
        if let expiry = constant(template.expiry) {
            try check("servicebusnotification-apns-expiry", expiry, at: "\(path)/expiry")
        }
        for header in template.headers {
            let name = header.name.lowercased()
            guard PushOptions.names.contains(name), let value = constant(header.value.text) else { continue }
            try check(name, value, at: "\(path)/headers/\(header.name)")
        }
    }

    private static func constant(_ text: String?) -> String? {
        guard let text else { return nil }
        do throws(TemplateExpression.Fault) {
            guard case .literal(let text) = try TemplateExpression(text) else { return nil }
            return text
        } catch { return nil }
    }

    private static func check(_ name: String, _ value: String, at path: String) throws(InstallationError) {
        do { _ = try PushOptions([name: value], now: Timestamp(rawValue: 0)) } catch {
            throw InstallationError(path, error.message)
        }
    }
}
