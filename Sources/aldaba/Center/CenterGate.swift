import AldabaConfiguration
import CenterPages
import HTTPTypes
import Hummingbird
import PushServer

/// Lets those in who have the cookie or bring the token, gives every answer its security fields, and answers failures as pages.
struct CenterGate: RouterMiddleware {
    typealias Context = ControlContext

    let session: CenterSession
    let environment: [String: String]

    /// The only sources of pages: this server, and an icon that is empty. Nothing inline runs.
    private static let policy =
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    func handle(
        _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        var answer = try await answer(request, context, next)
        for (name, value) in [
            ("Content-Security-Policy", Self.policy), ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
        ] {
            if let name = HTTPField.Name(name) { answer.headers[name] = value }
        }
        return answer
    }

    private func answer(
        _ request: Request, _ context: ControlContext,
        _ next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        let language = PageLanguage.choose(accepted: request.headers[.acceptLanguage], environment: environment)
        let layout = CenterLayout(base: session.path, language: language)
        if let isEntering = session.isEntering(request) {
            guard isEntering else {
                return .page(CenterLayout.unauthorizedPage(language: language), status: .forbidden)
            }
            var answer = Response.page(layout.redirectPage())
            answer.headers[.setCookie] = session.cookieField
            return answer
        }
        // Every browser tells the origin of a form, which the listener has compared with its own.
        guard session.isKnown(request), request.method != .post || request.headers[.origin] != nil else {
            return .page(CenterLayout.unauthorizedPage(language: language), status: .forbidden)
        }
        do { return try await next(request, context) } catch let failure as CommandError {
            return .page(layout.failure(failure.description), status: Self.status(of: failure))
        } catch let refusal as ControlError {
            return .page(layout.failure(refusal.message), status: refusal.status)
        }
    }

    private static func status(of failure: CommandError) -> HTTPResponse.Status {
        failure.exit == .invalidInput ? .conflict : .serviceUnavailable
    }
}

extension Response {
    /// A page.
    static func page(_ document: String, status: HTTPResponse.Status = .ok) -> Response {
        .text(document, type: "text/html; charset=utf-8", status: status)
    }
}
