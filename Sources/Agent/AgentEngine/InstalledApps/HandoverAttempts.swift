import PushCore

/// The hand-overs that a run of an app did not answer before it ended.
package struct UnansweredHandovers: Sendable, Hashable {
    /// The number of runs to which a notification or a response is handed.
    package static let attemptLimit = 2
    /// The number of runs to which a data message, its outcome's report or a deletion's is handed.
    package static let channelAttemptLimit = 5

    /// The notifications in the hands of its handlers.
    package var notifications: [NotificationID] = []
    /// The responses in the hands of its handlers, and the one that it was launched with.
    package var responses: [WaitingResponse.Place] = []
    /// The first data message that it had not confirmed; data messages are handled one after the other.
    package var message: NotificationID?
    /// Whether it was told outcomes of its messages, or deletions.
    package var wasTold = false

    /// Collects nothing yet.
    package init(
        notifications: [NotificationID] = [], responses: [WaitingResponse.Place] = [], message: NotificationID? = nil,
        wasTold: Bool = false
    ) {
        self.notifications = notifications
        self.responses = responses
        self.message = message
        self.wasTold = wasTold
    }

    /// Whether everything was answered.
    package var isEmpty: Bool { notifications.isEmpty && responses.isEmpty && message == nil && !wasTold }
}

/// The run of an app, and what an ended connection of it left unanswered. A value.
///
/// A hand-over counts as an attempt once its run is over: when another run begins, or when the process has ended. The
/// same run that connects again has its hand-overs still.
package struct HandoverAttempts: Sendable {
    private var run: String?
    private var process: Int32 = 0
    private var unanswered = UnansweredHandovers()
    /// Whether the run was told outcomes of its messages, or deletions.
    package var wasTold = false
    /// Whether the app's responses are looked for once its attempts are stored.
    package var looksForResponses = false

    /// An app that has not connected.
    package init() {}

    /// The connection of the run is over.
    package mutating func disconnected(_ left: UnansweredHandovers, process: Int32) {
        unanswered = left
        unanswered.wasTold = wasTold
        self.process = process
    }

    /// A run connects.
    ///
    /// - Returns: The hand-overs of an earlier run that count as attempts; `nil` for none.
    package mutating func begin(_ new: String) -> UnansweredHandovers? {
        defer { (run, wasTold, unanswered) = (new, false, UnansweredHandovers()) }
        looksForResponses = false
        return run == new || unanswered.isEmpty ? nil : unanswered
    }

    /// The app did not connect again in time.
    ///
    /// - Returns: The hand-overs that count as attempts, since its process has ended; `nil` for none.
    package mutating func absent(isRunning: (Int32) -> Bool) -> UnansweredHandovers? {
        guard !unanswered.isEmpty, !isRunning(process) else { return nil }
        defer { unanswered = UnansweredHandovers() }
        return unanswered
    }
}
