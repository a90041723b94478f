import AgentProtocol
import PushCore

extension BundleID {
    /// The app to which a notification with this topic goes.
    package init(_ topic: Topic) { self.init(rawValue: topic.rawValue) }
}

extension Topic {
    /// The topic under which an app is registered.
    package init(_ app: BundleID) { self.init(rawValue: app.rawValue) }
}
