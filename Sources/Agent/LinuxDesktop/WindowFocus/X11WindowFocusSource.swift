import AgentEngine
import Foundation
import Platform

/// Reports which program's window has the focus on an X11 screen.
///
/// Nothing is connected before ``start(events:)``; a screen that cannot be reached has ended.
package final class X11WindowFocusSource: WindowFocusSource {
    private let display: String
    private let end: WakeUp

    /// The screen that the environment names (`DISPLAY`).
    ///
    /// - Returns: `nil` where it names none, or the system has no descriptor left.
    package init?(environment: [String: String]) {
        guard let display = environment["DISPLAY"], !display.isEmpty, let end = try? WakeUp() else { return nil }
        self.display = display
        self.end = end
    }

    /// Connects to the screen on a thread of its own.
    package func start(events: @escaping @Sendable (FocusEvent) -> Void) {
        let (display, end) = (display, end)
        NamedThread.begin("aldaba-focus") { FocusWatch(display: display, end: end, tell: events).run() }
    }

    /// Ends the thread, and its connection with it.
    package func stop() { end.signal() }
}
