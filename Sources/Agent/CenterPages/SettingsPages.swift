import AgentProtocol

/// The pages of settings: the list of apps, and what one app may do.
package struct SettingsPages: Sendable {
    /// The frame of the pages.
    package var layout: CenterLayout

    /// Pages in a frame.
    package init(layout: CenterLayout) { self.layout = layout }

    private var texts: PageTexts { layout.texts }
    /// The settings that are written as a text, and not chosen among values.
    private static let written: Set<String> = ["missed-hours", "quiet-hours"]
    private static let authorizations = ["ask", "no", "yes", "quietly"]

    /// The document of all apps.
    ///
    /// - Parameters:
    ///   - apps: The apps, in their order.
    ///   - shared: The settings that all apps have in common.
    ///   - isSaved: Whether the person has just changed some.
    package func apps(
        _ apps: [AgentStatus.App], shared: [ManagementAnswer.Setting], isSaved: Bool = false
    ) -> String {
        layout.page(texts.settings, in: .settings, isLive: false) {
            HTML.element("h1") { "\(texts.settings) › \(texts.notifications)" }
            saved(isSaved)
            if apps.isEmpty { HTML.element("p") { texts.noApps } }
            HTML.element("ul", ["class": "apps"]) { for app in apps { entry(app) } }
            HTML.element("h2") { texts.allApps }
            form(shared, to: "/apps/all")
        }
    }

    /// The document of one app.
    ///
    /// - Parameter isSaved: Whether the person has just changed some.
    package func app(_ app: AgentStatus.App, settings: [ManagementAnswer.Setting], isSaved: Bool = false) -> String {
        let path = Self.path(of: app.id)
        return layout.page(app.name, in: .settings, isLive: false) {
            HTML.element("p") { HTML.element("a", ["href": layout.base + "/apps"]) { texts.back } }
            HTML.element("h1") { HTML.element("bdi") { app.name } }
            HTML.element("p", ["class": "app"]) {
                HTML.element("bdi") { app.id.rawValue }
                ", "
                app.isConnected ? texts.runs : texts.doesNotRun
                ", \(texts.badge) \(app.badge)"
            }
            saved(isSaved)
            form(settings, to: path)
            layout.button(texts.openAppSettings, to: path + "/open")
        }
    }

    /// The path of an app's page, after the base.
    package static func path(of app: BundleID) -> String { "/apps/app/\(EncodedName.encode(app.rawValue))" }

    private func entry(_ app: AgentStatus.App) -> HTML {
        let isKnown = Self.authorizations.indices.contains(app.authorization)
        return HTML.element("li") {
            HTML.element("a", ["href": layout.base + Self.path(of: app.id)]) { HTML.element("bdi") { app.name } }
            " "
            HTML.element("span", ["class": "value"]) {
                "\(texts.name(ofSetting: "allowed")): "
                isKnown ? texts.name(of: Self.authorizations[app.authorization], in: "allowed") : "?"
            }
        }
    }

    private func saved(_ isSaved: Bool) -> HTML {
        isSaved ? HTML.element("p", ["role": "status", "class": "saved"]) { texts.saved } : .nothing
    }

    private func form(_ settings: [ManagementAnswer.Setting], to path: String) -> HTML {
        HTML.element("form", ["method": "post", "action": layout.base + path, "class": "settings"]) {
            for setting in settings {
                HTML.element("label") {
                    HTML.element("span") { texts.name(ofSetting: setting.name) }
                    HTML.void(
                        "input",
                        ["type": "hidden", "name": SettingChanges.before + setting.name, "value": setting.value])
                    field(setting)
                }
            }
            HTML.element("button", ["class": "main"]) { texts.save }
        }
    }

    private func field(_ setting: ManagementAnswer.Setting) -> HTML {
        if Self.written.contains(setting.name) {
            return HTML.void(
                "input", ["type": "text", "name": setting.name, "value": setting.value, "autocomplete": "off"])
        }
        if Set(setting.allowed) == ["on", "off"] {
            return HTML.void(
                "input",
                [
                    "type": "checkbox", "role": "switch", "name": setting.name, "value": "on",
                    "checked": setting.value == "on" ? "" : nil,
                ])
        }
        return HTML.element("select", ["name": setting.name, "disabled": setting.allowed.count < 2 ? "" : nil]) {
            for value in setting.allowed {
                HTML.element("option", ["value": value, "selected": value == setting.value ? "" : nil]) {
                    texts.name(of: value, in: setting.name)
                }
            }
        }
    }
}
