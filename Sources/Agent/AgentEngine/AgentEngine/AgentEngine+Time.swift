import PushCore

/// Handling of timers whose delay has passed.
extension AgentEngine {
    /// The time of a ``Timer`` has passed. Before an event of the presenter the batch must be committed, as before
    /// ``handlePresenterEvent(_:_:)``; that of ``Timer/lookForApp(_:)`` is for ``lookForApp(_:_:load:)``.
    package mutating func timePassed(_ timer: Timer, _ context: Context) {
        switch timer {
        case .supervise(let event, let app): supervise(event, app: app, context: context)
        case .answersDue(let app): answersDue(app, context)
        case .giveResponses(let app, let token): giveResponses(to: app, activationToken: token, context)
        case .expire(let moment): expire(moment, context)
        case .forgetQuestion(let id, let app): forgetQuestion(id, of: app)
        case .presenterEvent(let event):
            waitingEvents -= 1
            handlePresenterEvent(event, context)
        case .refreshPreviews: refreshPreviews(context)
        case .schedule(let event): updateSchedule(event, context)
        case .lookForApp: break
        }
    }
}
