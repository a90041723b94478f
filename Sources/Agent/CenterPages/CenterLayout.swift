/// The frame of all pages: head, navigation and main part.
package struct CenterLayout: Sendable {
    /// The path under which the pages of this run are, without a slash at its end: `/4f2c…`.
    package var base: String
    /// The texts.
    package var texts: PageTexts

    /// The frame of pages under a path.
    package init(base: String, language: PageLanguage) {
        self.base = base
        texts = language.texts
    }

    /// The parts of the navigation.
    enum Part {
        case notifications
        case settings
    }

    /// A page of the centre.
    ///
    /// - Parameter isLive: Whether the script fetches the page again while it is looked at.
    func page(_ title: String, in part: Part, isLive: Bool, @HTMLBuilder _ content: () -> HTML) -> String {
        document(title, loadsScript: true) {
            HTML.element("nav") {
                link(texts.notifications, to: "/", isCurrent: part == .notifications)
                link(texts.settings, to: "/apps", isCurrent: part == .settings)
            }
            HTML.element("p", ["class": "ended", "role": "status", "hidden": ""]) { texts.ended }
            HTML.element("main", ["data-live": isLive ? "" : nil], content)
        }
    }

    /// A page that says what went wrong, with a link back.
    package func failure(_ message: String) -> String {
        page(texts.failed, in: .notifications, isLive: false) {
            HTML.element("h1") { texts.failed }
            HTML.element("p", ["role": "alert", "dir": "auto"]) { message }
            HTML.element("p") { HTML.element("a", ["href": base + "/"]) { texts.back } }
        }
    }

    /// A page for a browser that does not have the cookie of this run. It names no path of the run.
    package static func unauthorizedPage(language: PageLanguage) -> String {
        HTML.document(language: language.rawValue) {
            HTML.element("head") {
                HTML.void("meta", ["charset": "utf-8"])
                HTML.element("title") { "Aldaba" }
            }
            HTML.element("body") { HTML.element("p") { language.texts.notOpened } }
        }
    }

    /// A page that leads to the notifications. A redirect would not do: a browser that came from elsewhere sends a `SameSite=Strict` cookie
    /// with the first request that this page makes itself.
    package func redirectPage() -> String {
        document(texts.notifications, loadsScript: false) {
            HTML.element("p") { HTML.element("a", ["href": base + "/"]) { texts.continues } }
        } head: {
            HTML.void("meta", ["http-equiv": "refresh", "content": "0; url=\(base)/"])
        }
    }

    /// A file that leads a browser to an address, which is thus in no program's arguments.
    package static func launcher(to address: String) -> String {
        HTML.document(language: PageLanguage.english.rawValue) {
            HTML.element("head") {
                HTML.void("meta", ["charset": "utf-8"])
                HTML.void("meta", ["name": "referrer", "content": "no-referrer"])
                HTML.void("meta", ["http-equiv": "refresh", "content": "0; url=\(address)"])
                HTML.element("title") { "Aldaba" }
            }
            HTML.element("body") { HTML.element("a", ["href": address]) { "Aldaba" } }
        }
    }

    /// A form of one button, which sends its fields.
    func button(
        _ label: String, to path: String, fields: [(name: String, value: String)] = [], style: String? = nil
    ) -> HTML {
        HTML.element("form", ["method": "post", "action": base + path]) {
            for field in fields { HTML.void("input", ["type": "hidden", "name": field.name, "value": field.value]) }
            HTML.element("button", ["class": style, "dir": "auto"]) { label }
        }
    }

    private func link(_ label: String, to path: String, isCurrent: Bool) -> HTML {
        HTML.element("a", ["href": base + path, "aria-current": isCurrent ? "page" : nil]) { label }
    }

    private func document(
        _ title: String, loadsScript: Bool, @HTMLBuilder body: () -> HTML, @HTMLBuilder head: () -> HTML = { .nothing }
    ) -> String {
        HTML.document(language: texts.language.rawValue) {
            HTML.element("head") {
                HTML.void("meta", ["charset": "utf-8"])
                HTML.void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
                HTML.void("meta", ["name": "color-scheme", "content": "light dark"])
                HTML.element("title") { "\(title) – Aldaba" }
                HTML.void("link", ["rel": "icon", "href": "data:,"])
                HTML.void("link", ["rel": "stylesheet", "href": base + "/center.css"])
                if loadsScript { HTML.element("script", ["type": "module", "src": base + "/center.js"]) }
                head()
            }
            HTML.element("body", [:], body)
        }
    }
}
