import AgentProtocol

@testable import AgentEngine
@testable import AgentRuntime

/// What tests have the engine of an agent do by themselves.
extension Agent {
    func change(_ app: BundleID, _ body: @Sendable (inout AppNotificationRecord) -> Void) {
        decide { engine, _ in engine.change(app, body) }
    }

    func schedule(_ request: NotificationRequest, as mark: RequestMark?, app: BundleID) {
        decide { $0.scheduleRequest(request, as: mark, app: app, $1) }
    }

    func fireAdded(_ request: NotificationRequest, as mark: RequestMark?, app: BundleID) {
        decide { $0.addRequest(request, as: mark, app: app, $1) }
    }
}
