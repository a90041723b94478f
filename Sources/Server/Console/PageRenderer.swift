import HTTPTypes
import Hummingbird
import Mustache
import NIOCore
import PushCore
import PushServer
import Texts

/// Renders pages from the templates that are part of the program.
package struct PageRenderer: Sendable {
    private let library: MustacheLibrary

    /// Reads the templates.
    ///
    /// - Throws: The fault of a template that is malformed, which the tests would find.
    package init() throws {
        var library = MustacheLibrary()
        for (name, text) in Templates.all { try library.register(text, named: name) }
        self.library = library
    }

    /// A page with the layout around it.
    func response(
        _ template: String, pageRequest: PageRequest, section: String, status: HTTPResponse.Status,
        _ values: [String: Any]
    ) -> Response {
        var values = values
        values["t"] = TextsByName(catalogue: pageRequest.texts)
        values["language"] = pageRequest.texts.language.rawValue
        values["languages"] = Language.allCases.map {
            ["code": $0.rawValue, "name": $0.ownName, "isCurrent": $0 == pageRequest.texts.language] as [String: Any]
        }
        values["path"] = pageRequest.request.uri.path
        values["zone"] = pageRequest.texts.text("layout.zone", ["zone": pageRequest.zoneName])
        values["csrf"] = pageRequest.user.formToken
        values["person"] = pageRequest.user.person?.name
        values["hidesPayloads"] = pageRequest.user.person != nil && !pageRequest.user.scope.seesPayloads
        values["navigation"] = Navigation.pages(for: pageRequest.user).map {
            [
                "path": "/console/\($0.path)", "label": pageRequest.texts.text("layout.\($0.section)"),
                "isCurrent": $0.section == section,
            ] as [String: Any]
        }
        return Response(
            status: status,
            headers: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                .contentLanguage: pageRequest.texts.language.rawValue,
            ], body: ResponseBody(byteBuffer: ByteBuffer(string: render(template, values))))
    }

    /// A part of a page, without the layout.
    func fragment(_ template: String, texts: Catalogue, _ values: [String: Any]) -> String {
        var values = values
        values["t"] = TextsByName(catalogue: texts)
        return render(template, values)
    }

    private func render(_ template: String, _ values: [String: Any]) -> String {
        library.render(values.compactMapValues(Self.present), withTemplate: template) ?? ""
    }

    /// A value without what is `nil` in it, which a template would show as a word.
    private static func present(_ value: Any) -> Any? {
        switch value {
        case Optional<Any>.none: nil
        case let members as [String: Any]: members.compactMapValues(present)
        case let items as [Any]: items.compactMap(present)
        default: value
        }
    }
}

/// The pages of the navigation, in their order.
enum Navigation {
    static let pages: [(section: String, path: String)] = [
        ("inbox", ""), ("compose", "compose"), ("campaigns", "campaigns"), ("reports", "reports"),
        ("installations", "installations"), ("devices", "devices"), ("health", "health"),
        ("relay", "relay"), ("account", "account"),
        ("audit", "audit"),
    ]
}

/// The texts of a catalogue for templates: `{{t.inbox.title}}`.
struct TextsByName: MustacheParent {
    let catalogue: Catalogue
    var prefix = ""

    func child(named name: String) -> Any? {
        let key = prefix + name
        return Node(text: catalogue.texts[key], catalogue: catalogue, key: key)
    }

    /// A text, or the beginning of longer keys.
    private struct Node: MustacheParent, MustacheCustomRenderable {
        let text: String?
        let catalogue: Catalogue
        let key: String

        var renderText: String { text ?? key }
        var isNull: Bool { false }

        func child(named name: String) -> Any? {
            let key = "\(key).\(name)"
            return Node(text: catalogue.texts[key], catalogue: catalogue, key: key)
        }
    }
}

extension HTTPField.Name {
    static let contentLanguage = HTTPField.Name("Content-Language")!
}
