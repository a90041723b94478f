import AgentProtocol
import Foundation

// Requests of an app: to start an activity, to update it, to end it.

extension Activity {
    /// Starts an activity.
    ///
    /// It returns at once. Where the agent refuses the activity later, it becomes `dismissed`, and standard error says why.
    ///
    /// - Parameters:
    ///   - attributes: The data that never change.
    ///   - content: The first content.
    ///   - pushType: The pushes that update it; `nil` for none.
    ///   - style: Has no effect.
    /// - Throws: ``ActivityAuthorizationError``, or the error of an encoder.
    public static func request(
        attributes: Attributes, content: ActivityContent<ContentState>, pushType: PushType? = nil,
        style: ActivityStyle = .standard
    ) throws -> Activity<Attributes> {
        let center = ActivityCenter.current
        let wire = LiveActivity(
            id: newID(), attributesType: Attributes.typeName, attributes: try ActivityJSON.text(of: attributes),
            content: try content.encoded())
        let size = wire.attributes.utf8.count
        guard size + wire.content.state.utf8.count <= ActivityCenter.sizeLimit else {
            throw ActivityAuthorizationError.attributesTooLarge
        }
        let list = center.list(of: Attributes.self)
        try center.checkMayStart()
        let activity = Activity(
            id: wire.id, attributes: attributes, attributesSize: size, content: content, isStarting: true,
            center: center)
        list.insert(activity)
        center.start(wire, pushes: pushType?.pushes ?? .none, progress: activity.progress, in: list)
        return activity
    }

    /// Starts an activity whose content is never out of date.
    public static func request(
        attributes: Attributes, contentState: ContentState, pushType: PushType? = nil
    ) throws -> Activity<Attributes> {
        try request(
            attributes: attributes, content: ActivityContent(state: contentState, staleDate: nil), pushType: pushType)
    }

    private static func newID() -> String {
        UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
    }

    /// Replaces the content. It returns when the agent has it, or at once while no agent is connected.
    public nonisolated(nonsending) func update(_ content: ActivityContent<ContentState>) async {
        await update(content, alertConfiguration: nil)
    }

    /// Replaces the content, with an alert where one is given.
    ///
    /// It returns when the agent has it, or at once while no agent is connected. An activity that has ended is not updated.
    public nonisolated(nonsending) func update(
        _ content: ActivityContent<ContentState>, alertConfiguration: AlertConfiguration? = nil
    ) async {
        guard activityState.isRunning, let wire = sendable(content) else { return }
        progress.beginChange { set(content) }
        let alert = alertConfiguration?.wire
        await center.ask(about: id, progress) { [id] in .update(request: $0, id: id, wire, alert) }
    }

    /// Replaces the content state; the content is never out of date.
    public nonisolated(nonsending) func update(
        using contentState: ContentState, alertConfiguration: AlertConfiguration? = nil
    ) async {
        await update(
            ActivityContent(state: contentState, staleDate: nil), alertConfiguration: alertConfiguration)
    }

    /// Ends the activity, with its last content where one is given.
    ///
    /// It returns when the agent has ended it, or at once while no agent is connected.
    public nonisolated(nonsending) func end(
        _ content: ActivityContent<ContentState>?, dismissalPolicy: ActivityUIDismissalPolicy = .default
    ) async {
        guard activityState != .dismissed else { return }
        let wire = content.flatMap(sendable)
        progress.beginChange { if let content, wire != nil { set(content) } }
        enter(.ended)
        await center.ask(about: id, progress) { [id] in .end(request: $0, id: id, wire, dismissalPolicy.dismissal) }
    }

    /// Ends the activity, with its last content state where one is given.
    public nonisolated(nonsending) func end(
        using contentState: ContentState? = nil, dismissalPolicy: ActivityUIDismissalPolicy = .default
    ) async {
        await end(
            contentState.map { ActivityContent(state: $0, staleDate: nil) }, dismissalPolicy: dismissalPolicy)
    }

    /// The content for the agent; `nil` where it cannot be sent, which is reported.
    private func sendable(_ content: ActivityContent<ContentState>) -> LiveActivityContent? {
        do {
            let wire = try content.encoded()
            if attributesSize + wire.state.utf8.count <= ActivityCenter.sizeLimit { return wire }
            center.report(
                "content of the Live Activity \(id) is not sent: it has more than \(ActivityCenter.sizeLimit) bytes "
                    + "together with the attributes", once: "size \(id)")
        } catch {
            center.report("content of the Live Activity \(id) is not sent: \(error)", once: "encoding \(id)")
        }
        return nil
    }
}
