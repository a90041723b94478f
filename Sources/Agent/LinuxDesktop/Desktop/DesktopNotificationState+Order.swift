import AgentEngine

extension DesktopNotificationState {
    /// A presentation that is queued or being posted.
    struct Order: Sendable {
        enum Purpose {
            case first
            /// A repetition for a new server; the agent has had an outcome before, and gets a new one.
            case again
            /// Replaces the shown notification; no caller waits for it.
            case update
        }

        var presentation: Presentation
        var purpose: Purpose
        /// Whether it was withdrawn after the server had been asked to show it.
        var isTakenBack = false

        var isUpdate: Bool { purpose == .update }

        /// The directives for an order that is not shown.
        func failure(_ reason: String) -> [Directive] {
            switch purpose {
            case .first: [.answer(presentation.notification, .failed(reason: reason))]
            case .again: [.tell(.left(presentation.notification))]
            case .update: []
            }
        }

        /// The directives for an order that was withdrawn before it was shown.
        var takenBack: [Directive] { failure("it was taken back") }
    }
}
