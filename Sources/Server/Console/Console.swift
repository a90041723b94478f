import HTTPTypes
import Hummingbird
import NIOCore
import PushServer
import Texts

/// The pages for people, under `/console/`.
package struct Console: Sendable {
    private let pages: PageRenderer

    /// Reads the templates.
    package init() throws { pages = try PageRenderer() }

    /// Adds the pages to a listener.
    ///
    /// - Parameters:
    ///   - api: The routes that the pages call.
    ///   - access: Who may visit the pages.
    package func add(to router: Router<ControlContext>, api: ConsoleAPI, access: ConsoleAccess) {
        let group = router.group("console").add(middleware: ConsoleHeaders())
        addFiles(to: group)
        let routes = ConsoleRoutes(
            group: group.add(middleware: FaultPages(api: api, pages: pages)), api: api, pages: pages,
            access: access)
        if let people = access.people { PeoplePages.add(to: routes, people) }
        routes.get("language") { try LanguagePage.choose($0) }
        PreferencesPage.add(to: routes)
        InterfacePage.add(to: routes)
        InboxPage.add(to: routes)
        AuditPage.add(to: routes)
        NotificationPage.add(to: routes)
        HubTemplatesPage.add(to: routes)
        InstallationsPage.add(to: routes)
        AudiencesPage.add(to: routes)
        ReportsPage.add(to: routes)
        DevicesPage.add(to: routes)
        DevicePage.add(to: routes)
        HealthPage.add(to: routes)
        RelayPage.add(to: routes)
        ComposePage.add(to: routes)
        CampaignsPage.add(to: routes)
        AccountPage.add(to: routes)
        routes.get("**") { pageRequest in
            throw ControlError(
                status: .notFound, code: "notFound", message: pageRequest.texts.text("layout.error.none"))
        }
    }

    private func addFiles(to group: RouterGroup<ControlContext>) {
        let files = [
            ("style.css", "text/css; charset=utf-8", ConsoleFiles.style),
            ("live.js", "text/javascript; charset=utf-8", ConsoleFiles.live),
            ("follow.js", "text/javascript; charset=utf-8", ConsoleFiles.follow),
            ("compose.js", "text/javascript; charset=utf-8", ConsoleFiles.compose),
            ("fragments.js", "text/javascript; charset=utf-8", ConsoleFiles.fragments),
            ("icon.svg", "image/svg+xml", ConsoleFiles.icon),
        ]
        for (name, type, text) in files {
            group.get(RouterPath(name)) { _, _ in
                Response(
                    status: .ok, headers: [.contentType: type, .cacheControl: "no-cache"],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
            }
        }
    }
}

/// Adds pages that get a ``PageRequest``.
struct ConsoleRoutes {
    let group: RouterGroup<ControlContext>
    let api: ConsoleAPI
    let pages: PageRenderer
    let access: ConsoleAccess

    /// Adds a page.
    func get(_ path: String, _ page: @escaping @Sendable (PageRequest) async throws -> Response) {
        group.get(RouterPath(path), use: handler(ConsolePermissions.rule("GET \(path)"), page))
    }

    /// Adds what a form asks for.
    func post(_ path: String, _ page: @escaping @Sendable (PageRequest) async throws -> Response) {
        group.post(RouterPath(path), use: handler(ConsolePermissions.rule("POST \(path)"), page))
    }

    /// Lets those in who may call the route, and shows refusals as pages.
    private func handler(
        _ rule: ConsolePermissions.Rule?, _ page: @escaping @Sendable (PageRequest) async throws -> Response
    ) -> @Sendable (Request, ControlContext) async throws -> Response {
        let (api, pages, access) = (api, pages, access)
        return { request, context in
            switch try await access.admit(request, context, to: rule) {
            case .redirect(let path):
                return Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
            case .refusal(let user, let refusal):
                return try PageRequest(request, context, user: user, api: api, pages: pages).fault(refusal.error)
            case .user(let user, let request):
                let pageRequest = try PageRequest(request, context, user: user, api: api, pages: pages)
                do { return try await page(pageRequest) } catch let error as ControlError {
                    return pageRequest.fault(error)
                }
            }
        }
    }
}

/// Shows refusals as pages, and refuses forms of other sites.
private struct FaultPages: RouterMiddleware {
    let api: ConsoleAPI
    let pages: PageRenderer

    func handle(
        _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        do {
            if request.method != .get, request.method != .head { try Self.requireSameOrigin(request) }
            return try await next(request, context)
        } catch let error as ControlError {
            return try PageRequest(request, context, user: .nobody, api: api, pages: pages).fault(error)
        }
    }

    /// A browser tells where a form came from (W3C Fetch Metadata Request Headers).
    private static func requireSameOrigin(_ request: Request) throws {
        let origin = request.headers[.origin].map { $0.hasSuffix("://\(request.head.authority ?? "")") }
        guard request.headers[.secFetchSite].map({ $0 == "same-origin" }) ?? origin ?? true else {
            throw ConsoleRefusal.site.error
        }
    }
}

extension PageRequest {
    /// A refusal as a page.
    func fault(_ error: ControlError) -> Response {
        page(
            "error", title: texts.text("layout.error.title"), section: "", status: error.status,
            ["message": ConsoleRefusal.message(of: error, texts)])
    }
}

/// Adds the fields that keep other sites out of the pages.
private struct ConsoleHeaders: RouterMiddleware {
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

    func handle(
        _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.contentSecurityPolicy] = Self.policy
        // With no-referrer, browsers send the console's own forms with `Origin: null`, which is refused (Fetch, section 3.2).
        response.headers[.referrerPolicy] = "same-origin"
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.crossOriginOpenerPolicy] = "same-origin"
        return response
    }
}

extension HTTPField.Name {
    fileprivate static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
    fileprivate static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    fileprivate static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
}
