import AgentProtocol

// Live Activities. Their events and answers come on the host's queue, in the order in which the agent sent them: an app
// whose main thread is blocked still learns of its activities.

extension AppHost {
    /// Begins to receive the events of the app's Live Activities, now and on every later connection.
    ///
    /// - Parameter receive: The receiver, called on the host's queue; it takes the place of an earlier one.
    package nonisolated func observeActivities(_ receive: @escaping @Sendable (ActivityEvent) -> Void) {
        post { host in
            host.answers.activityEvents = receive
            host.handle(.activitiesObserved)
        }
    }

    /// Asks for all of the app's Live Activities again.
    package nonisolated func askForActivities() { postEvent(.activitiesObserved) }

    /// Asks something about a Live Activity. The answer comes on the host's queue; `nil` when it cannot be asked for.
    ///
    /// ``ActivityAnswer/delayed`` comes before the answer, once for each time that no agent is connected.
    package nonisolated func askActivity(
        _ command: @escaping @Sendable (Int64) -> ActivityCommand,
        answer: @escaping @Sendable (ActivityAnswer?) -> Void
    ) {
        post { host in
            let request = host.nextRequest()
            let command = command(request)
            guard let size = Self.size(of: .activity(command)) else {
                return answer(
                    .refused(code: ActivityFault.tooLarge, message: "it does not fit into a message to the agent"))
            }
            host.answers.activityAnswers[request] = answer
            host.handle(.activityAsked(request: request, command, size: size))
            if !host.isConnected { host.answers.activityAnswers[request]?(.delayed) }
        }
    }
}
