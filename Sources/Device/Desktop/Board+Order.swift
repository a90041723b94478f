import DeviceModel

extension Board {
    /// A presentation on its way.
    struct Order: Sendable {
        enum Purpose {
            case first
            /// To a new server; it was answered to the agent before, and is told anew.
            case again
            /// In the place of what is shown; nobody waits for that.
            case update
        }

        var presentation: Presentation
        var purpose: Purpose
        /// Whether it was taken back after the server had been asked to show it.
        var isTakenBack = false

        var isUpdate: Bool { purpose == .update }

        /// What is said when it is not shown.
        func failure(_ reason: String) -> [Directive] {
            switch purpose {
            case .first: [.answer(presentation.notification, .failed(reason: reason))]
            case .again: [.tell(.left(presentation.notification))]
            case .update: []
            }
        }

        /// What is said when it was taken back before it was shown.
        var takenBack: [Directive] { failure("it was taken back") }
    }
}
