import AgentEngine
import Testing

@testable import LinuxDesktop

/// The progress of a Live Activity, which desktops show as a bar (`value`).
struct NotifyProgressTests {
    private func hint(_ progress: Double?) -> NotifyMessage.Hint? {
        var presentation = presentation(1)
        presentation.progress = progress
        return NotifyMessage(presentation, replaces: 0, features: NotificationServerInformation()).hints["value"]
    }

    @Test func `a notification without a progress has no bar`() {
        #expect(hint(nil) == nil)
    }

    /// Apps send the number, so that it may be any.
    @Test(
        arguments: [
            (0, 0), (1, 100), (0.5, 50), (0.004, 0), (0.996, 100), (-1, 0), (1.5, 100), (1e300, 100), (-1e300, 0),
        ] as [(Double, Int32)])
    func `a progress is a percentage from 0 to 100`(progress: Double, value: Int32) {
        #expect(hint(progress) == .int32(value))
    }
}
