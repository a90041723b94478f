import HTTPTypes
import Hummingbird
import PushServer
import Texts

/// The choice of the language, which a cookie keeps.
enum LanguagePage {
    /// Keeps the language `to`, and goes to the page `back`.
    static func choose(_ pageRequest: PageRequest) throws -> Response {
        guard let language = pageRequest.query.first("to").flatMap(Language.init(rawValue:)) else {
            throw ControlError.invalid("to is not a language; en and es are")
        }
        let back = pageRequest.query.first("back") ?? ""
        var response = pageRequest.redirect(to: isPage(back) ? back : "/console/")
        response.headers[.setCookie] = "language=\(language.rawValue); Path=/console/; Max-Age=31536000; SameSite=Lax"
        return response
    }

    /// Whether a path is a page of the console, and no address elsewhere.
    static func isPage(_ path: String) -> Bool {
        path.hasPrefix("/console/") && path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
    }
}
