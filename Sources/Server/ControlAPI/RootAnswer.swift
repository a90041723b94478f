import Hummingbird
import PushServer

/// The response of `GET /` to people who open the address of a listener: its purpose, and the addresses to read on.
enum RootAnswer {
    /// The response of the control port; a browser is sent to the console.
    static func control(_ request: Request, hasConsole: Bool) -> Response {
        if hasConsole, request.headers[.accept]?.contains("text/html") == true {
            return Response(status: .seeOther, headers: [.location: "/console/", .vary: "Accept"])
        }
        return page(
            """
            Aldaba runs APNs and FCM on this machine. This is its control API, at which FCM, notification hubs and devices
            are served too. Notifications of APNs go to the provider API, which is another port.

              /console/                 pages for people, on a development server
              /health, /ready           how the server is
              /v1/openapi.json          the API under /v1
              /v1/notifications         the notifications that it has
              /v1/notifications/ID      one of them with its timeline, by its id or apns-id

            `aldaba help` lists the commands.
            """)
    }

    /// The response of the metrics' port.
    static var metrics: Response {
        page(
            """
            Aldaba runs APNs and FCM on this machine. This port is for programs that watch it.

              /metrics           counters and gauges, as Prometheus reads them
              /health, /ready    how it is
            """)
    }

    private static func page(_ text: String) -> Response {
        .text(text + "\n", type: "text/plain; charset=utf-8")
    }
}
