import AgentProtocol
import AldabaConfiguration
import CenterPages
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushServer

/// The routes of `aldaba center`. What a form asks for is a command to the agent; then the browser is sent to a page.
struct CenterInterface: ControlInterface {
    let session: CenterSession
    let agent: CenterAgent
    let environment: [String: String]

    /// The name of the settings that all apps have in common.
    private static let allApps: BundleID = "all"
    /// The query that has a page say that settings were saved.
    private static let saved = "saved"

    func add(to router: Router<ControlContext>, isSecured: Bool) {
        let pages = router.group(RouterPath(session.path))
            .add(middleware: CenterGate(session: session, environment: environment))
        pages.get { request, _ in try await notifications(request) }
        pages.get("center.css") { _, _ in Response.text(CenterFiles.style, type: "text/css; charset=utf-8") }
        pages.get("center.js") { _, _ in Response.text(CenterFiles.script, type: "text/javascript; charset=utf-8") }
        addNotifications(to: pages)
        addSettings(to: pages)
    }

    private func addNotifications(to pages: RouterGroup<ControlContext>) {
        pages.get("notifications/:id/pictures/:index") { _, context in
            let id = try context.parameters.require("id", as: Int64.self)
            let index = try context.parameters.require("index", as: Int.self)
            guard let picture = try await agent.picture(index, of: id) else { throw ControlError.notFound }
            return Response(
                status: .ok, headers: [.contentType: picture.type],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: picture.bytes)))
        }
        pages.post("notifications/:id/open") { _, context in
            let id = try context.parameters.require("id", as: Int64.self)
            try await agent.order(.act(notification: id, action: NotificationAction.open, text: nil))
            return redirect(to: "/")
        }
        pages.post("notifications/:id/act") { request, context in
            let id = try context.parameters.require("id", as: Int64.self)
            let form = try await request.form()
            let action = try name("action", in: form)
            try await agent.order(.act(notification: id, action: action, text: form.first("text")))
            return redirect(to: "/")
        }
        pages.post("notifications/:id/dismiss") { _, context in
            try await agent.order(.dismiss(notification: try context.parameters.require("id", as: Int64.self)))
            return redirect(to: "/")
        }
        pages.post("dismiss-all") { request, _ in
            guard let until = try await request.form().first("until").flatMap(Int64.init) else {
                throw ControlError.invalid("until must be the time of the newest notification that is dismissed")
            }
            // What came after the page was made has not been seen.
            _ = try await agent.asking { try $0.dismissAll(app: nil) { $0.notification.date <= until } }
            return redirect(to: "/")
        }
        pages.post("cancel") { request, _ in
            let form = try await request.form()
            let app = BundleID(rawValue: try name("app", in: form))
            try await agent.order(.cancel(app: app, identifiers: [try name("identifier", in: form)]))
            return redirect(to: "/")
        }
    }

    private func addSettings(to pages: RouterGroup<ControlContext>) {
        pages.get("apps") { request, _ in
            let (status, shared) = try await agent.asking { (try $0.status(), try $0.settings(of: Self.allApps)) }
            return Response.page(
                SettingsPages(layout: layout(request)).apps(status.apps, shared: shared, isSaved: isSaved(request)))
        }
        pages.post("apps/all") { request, _ in
            try await change(Self.allApps, request)
            return redirect(to: "/apps?\(Self.saved)=1")
        }
        pages.get("apps/app/:app") { request, context in
            let id = try app(context)
            let (status, settings) = try await agent.asking { (try $0.status(), try $0.settings(of: id)) }
            guard let app = status.apps.first(where: { $0.id == id }) else { throw ControlError.notFound }
            return Response.page(
                SettingsPages(layout: layout(request)).app(app, settings: settings, isSaved: isSaved(request)))
        }
        pages.post("apps/app/:app") { request, context in
            let id = try app(context)
            try await change(id, request)
            return redirect(to: SettingsPages.path(of: id) + "?\(Self.saved)=1")
        }
        pages.post("apps/app/:app/open") { _, context in
            let id = try app(context)
            try await agent.order(.openSettings(app: id))
            return redirect(to: SettingsPages.path(of: id))
        }
    }

    private func notifications(_ request: Request) async throws -> Response {
        let (listed, pending, count) = try await agent.asking { client in
            guard case .list(let listed) = try client.ask(.list(app: nil)) else { throw unexpected() }
            return (listed, try client.pending(app: nil), try client.status().apps.reduce(0) { $0 + $1.listed })
        }
        let page = NotificationsPage(
            layout: layout(request), listed: listed, pending: pending, listedCount: count
        ) { TimeZone.current.secondsFromGMT(for: $0) }
        return Response.page(page.document)
    }

    private func change(_ app: BundleID, _ request: Request) async throws {
        let form = try await request.form()
        let changes = SettingChanges.of(form.names.map { ($0, form.first($0) ?? "") })
        if !changes.isEmpty { try await agent.order(.set(app: app, values: changes)) }
    }

    // MARK: Parts of requests and answers

    private func layout(_ request: Request) -> CenterLayout {
        CenterLayout(
            base: session.path,
            language: .choose(accepted: request.headers[.acceptLanguage], environment: environment))
    }

    private func redirect(to path: String) -> Response {
        Response(status: .seeOther, headers: [.location: session.path + path])
    }

    private func isSaved(_ request: Request) -> Bool { request.uri.queryParameters[Self.saved[...]] != nil }

    private func app(_ context: ControlContext) throws -> BundleID {
        guard let name = EncodedName.decode(try context.parameters.require("app")) else { throw ControlError.notFound }
        return BundleID(rawValue: name)
    }

    private func name(_ field: String, in form: FormFields) throws -> String {
        guard let name = form.first(field).flatMap(EncodedName.decode) else {
            throw ControlError.invalid("\(field) must be an identifier as this page's forms send it")
        }
        return name
    }
}
