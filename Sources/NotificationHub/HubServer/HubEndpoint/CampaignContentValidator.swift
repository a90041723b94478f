import HubProtocol
import PushCore

/// Refuses members of a campaign's content that would be ignored, or would fail later. The content was parsed before.
enum CampaignContentValidator {
    /// The visible members that a silent content must not have: Apple accepts none of them in the background.
    private static let shown = ["title", "subtitle", "body", "sound", "badge", "image", "video", "actions", "locales"]
    /// Languages of a content, at most. A payload is made for each before the campaign is accepted.
    private static let mostLocales = 200
    private static let words = ["title", "subtitle", "body", "actions"]

    /// Checks a content.
    ///
    /// - Throws: A fault with the wrong member and the values that are right.
    static func check(_ content: JSONValue) throws(InstallationError) {
        let locales = try locales(content["locales"])
        if let link = content["link"]?.text { try check(link: link, at: "/link") }
        for (index, action) in (content["actions"]?.items ?? []).enumerated() {
            if let link = action["link"]?.text { try check(link: link, at: "/actions/\(index)/link") }
        }
        guard let silent = content["silent"], silent != .null, silent != .boolean(false) else {
            return try checkWords(content, locales)
        }
        guard silent == .boolean(true) else { throw InstallationError("/silent", "this is to be true or false") }
        for name in shown {
            guard let value = content[name], value != .null else { continue }
            throw InstallationError("/\(name)", "a silent content shows nothing; leave this out, or \"silent\"")
        }
    }

    private static func locales(_ value: JSONValue?) throws(InstallationError) -> [JSONValue.Member] {
        guard let value, value != .null else { return [] }
        guard let members = value.members else { throw InstallationError("/locales", "this is to be an object") }
        guard members.count <= mostLocales else {
            throw InstallationError(
                "/locales", "there are \(members.count) languages; at most \(mostLocales) are taken")
        }
        for member in members {
            let path = "/locales/\(member.name)"
            guard isLanguage(member.name) else {
                throw InstallationError(path, "this is no language such as de, or language and region such as de-AT")
            }
            guard member.value != .null else { continue }
            try OwnDocument.check(member.value, at: path, members: words)
        }
        return members
    }

    /// Whether a text is a language of two letters or more, with subtags after `-` or `_` (RFC 5646, section 2.1).
    private static func isLanguage(_ text: String) -> Bool {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        guard let language = parts.first, (2...8).contains(language.utf8.count),
            language.allSatisfy({ $0.isASCII && $0.isLetter })
        else { return false }
        return parts.dropFirst().allSatisfy { part in
            (1...8).contains(part.utf8.count) && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        }
    }

    /// Refuses texts of blanks in any language: a device would receive them, and present nothing.
    private static func checkWords(_ content: JSONValue, _ locales: [JSONValue.Member]) throws(InstallationError) {
        func isBlank(_ name: String, _ tree: JSONValue) -> Bool {
            (tree[name]?.text ?? content[name]?.text ?? "").allSatisfy(\.isWhitespace)
        }
        for (path, tree) in [("", content)] + locales.map({ ("/locales/\($0.name)", $0.value) })
        where isBlank("title", tree) && isBlank("body", tree) {
            let name = tree["title"]?.text == nil ? "body" : "title"
            throw InstallationError("\(path)/\(name)", "title and body are empty, so that nothing would be shown")
        }
    }

    private static let partial = "a link is a whole address: https://host/path, or one of an app's scheme"
    /// Schemes whose URLs are programs, files or literal contents.
    private static let refused = ["javascript", "data", "file", "vbscript"]

    private static func check(link: String, at path: String) throws(InstallationError) {
        let scheme = link.prefix { $0 != ":" }
        guard let first = scheme.first, first.isASCII, first.isLetter, scheme.utf8.count + 1 < link.utf8.count,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }),
            link.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
        else { throw InstallationError(path, partial) }
        guard !refused.contains(scheme.lowercased()) else {
            throw InstallationError(path, "addresses of the scheme \"\(scheme)\" are not taken")
        }
        guard !["http", "https"].contains(scheme.lowercased()) || link.dropFirst(scheme.count).hasPrefix("://") else {
            throw InstallationError(path, partial)
        }
    }
}
