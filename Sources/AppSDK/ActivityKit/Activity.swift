import AgentProtocol
import AppHost
import Foundation

/// A Live Activity of the app: the agent keeps and shows it, and pushes update it.
///
/// There is one object for each activity until it is dismissed. All methods may be called on any thread.
public final class Activity<Attributes: ActivityAttributes>: Identifiable, Sendable {
    /// The type of the data that change.
    public typealias ContentState = Attributes.ContentState
    /// A sequence of activities.
    public typealias ActivityUpdates = ActivityUpdateSequence<Activity<Attributes>>
    /// A sequence of contents.
    public typealias ContentUpdates = ActivityUpdateSequence<ActivityContent<ContentState>>
    /// A sequence of content states.
    public typealias ContentStateUpdates = ActivityUpdateSequence<ContentState>
    /// A sequence of states.
    public typealias ActivityStateUpdates = ActivityUpdateSequence<ActivityState>
    /// A sequence of push tokens.
    public typealias PushTokenUpdates = ActivityUpdateSequence<Data>

    /// The id: 32 lower-case hexadecimal digits.
    public let id: String
    private let sharedAttributes: Shared<Attributes>
    /// The bytes of the attributes as JSON.
    let attributesSize: Int
    let center: ActivityCenter
    /// The content that it began with.
    private let firstContent: Shared<ActivityContent<ContentState>>
    private let contents: Broadcast<ActivityContent<ContentState>>
    private let contentStates: Broadcast<ContentState>
    private let states: Broadcast<ActivityState>
    private let tokens = Broadcast<Data>()
    let progress: ActivityProgress

    /// Makes the object of an activity that this process starts, or that the agent has.
    init(
        id: String, attributes: Attributes, attributesSize: Int, content: ActivityContent<ContentState>,
        state: ActivityState = .active, isStarting: Bool, center: ActivityCenter
    ) {
        self.id = id
        self.attributesSize = attributesSize
        self.center = center
        sharedAttributes = Shared(value: attributes)
        firstContent = Shared(value: content)
        contents = Broadcast([content])
        contentStates = Broadcast([content.state])
        states = Broadcast([state])
        progress = ActivityProgress(isStarting: isStarting)
    }

    /// The data that never change.
    public var attributes: Attributes { sharedAttributes.value }
    /// The content: the app's latest, or what a push brought since.
    public var content: ActivityContent<ContentState> { contents.kept.last ?? firstContent.value }
    /// The app's own data in the content.
    public var contentState: ContentState { content.state }
    /// The state in its life cycle.
    public var activityState: ActivityState { states.kept.last ?? .active }
    /// The token for pushes to this activity; `nil` until the agent has it, and where the activity gets none.
    public var pushToken: Data? { tokens.kept.last }

    /// The content, now and whenever it changes, until the activity is dismissed.
    public var contentUpdates: ContentUpdates { ActivityUpdateSequence(contents) }
    /// The content state, now and whenever it changes, until the activity is dismissed.
    public var contentStateUpdates: ContentStateUpdates { ActivityUpdateSequence(contentStates) }
    /// The state, now and whenever it changes; `dismissed` is the last.
    public var activityStateUpdates: ActivityStateUpdates { ActivityUpdateSequence(states) }
    /// The push token, as soon as it is known and whenever it changes, until the activity is dismissed.
    public var pushTokenUpdates: PushTokenUpdates { ActivityUpdateSequence(tokens) }
}

// MARK: - All activities of a type

extension Activity {
    /// The app's activities of this type that are not dismissed.
    ///
    /// The first call in a process waits until the agent has said which there are, at most a second.
    public static var activities: [Activity<Attributes>] {
        let center = ActivityCenter.current
        let list = center.list(of: Attributes.self)
        center.waitForFirstEvents()
        return list.activities.kept
    }

    /// The activities that there are, then each that begins, by the app or by a push.
    public static var activityUpdates: ActivityUpdates {
        ActivityUpdateSequence(ActivityCenter.current.list(of: Attributes.self).activities)
    }

    /// The token for pushes that start an activity; `nil` until the agent has it. It is the same for all types.
    public static var pushToStartToken: Data? {
        ActivityCenter.current.observe()
        return ActivityCenter.current.startToken.kept.last
    }

    /// The token for pushes that start an activity, as soon as it is known and whenever it changes.
    public static var pushToStartTokenUpdates: PushTokenUpdates {
        ActivityCenter.current.observe()
        return ActivityUpdateSequence(ActivityCenter.current.startToken)
    }
}

// MARK: - Changes

extension Activity {
    /// Makes the object of an activity that the agent has.
    convenience init(_ activity: LiveActivity, center: ActivityCenter) throws {
        self.init(
            id: activity.id, attributes: try ActivityJSON.value(of: activity.attributes),
            attributesSize: activity.attributes.utf8.count, content: try ActivityContent(activity.content),
            isStarting: false, center: center)
        receive(activity)
    }

    /// Takes what the agent says of the activity. Content that does not decode is reported and skipped.
    func receive(_ activity: LiveActivity) {
        progress.noteStarted()
        if let token = activity.pushToken.flatMap(DeviceTokenText.bytes) { tokens.set(token) }
        do {
            let content = try ActivityContent<ContentState>(activity.content)
            progress.receive({ set(content) }, isOther: { content != self.content })
        } catch {
            center.report(
                "the content of the Live Activity \(id) is not that of \(Attributes.typeName): \(error)",
                once: "content \(id)")
        }
        enter(ActivityState(activity.state))
    }

    /// Keeps content, and tells the readers where it is new.
    func set(_ content: ActivityContent<ContentState>) {
        contents.set(content)
        contentStates.set(content.state)
    }

    /// Enters a state; none goes back from its end. The streams end with `dismissed`.
    func enter(_ state: ActivityState) {
        let state = Shared(value: state)
        states.send { kept in
            guard kept.last?.value.mayBecome(state.value) != false else { return nil }
            kept = [state]
            return state
        }
        guard state.value == .dismissed else { return }
        contents.finish()
        contentStates.finish()
        tokens.finish()
        states.finish()
    }
}
