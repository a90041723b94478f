import PushCore

/// The app that `up` brings along.
package enum DemoApp {
    /// The demo app's topic, the bundle id.
    package static let topic = Topic(rawValue: "com.example.todo")
    /// The team that owns it.
    package static let team = TeamID(rawValue: "ALDABADEMO")
    /// The name of its notification hub.
    package static let hub = "todo"
    /// The file name of its program, beside `aldaba`.
    package static let program = "TodoList"
    /// The file name of its service extension's program, beside `aldaba`; it shows pictures.
    package static let pictureProgram = "PictureService"
}
