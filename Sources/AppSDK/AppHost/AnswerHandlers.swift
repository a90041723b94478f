import AgentProtocol

/// The callbacks that wait for the agent's answers, by the numbers of their requests.
struct AnswerHandlers {
    var lastRequest: Int64 = 0
    var authorizations: [Int64: @Sendable (Bool?) -> Void] = [:]
    var settings: [Int64: @Sendable (NotificationSettings?) -> Void] = [:]
    var centers: [Int64: CenterRequest] = [:]
    /// The callbacks that wait for answers to requests of the direct channel.
    var channelAnswers: [Int64: @Sendable (ChannelAnswer?) -> Void] = [:]
    /// The callbacks that wait for answers to requests about Live Activities.
    var activityAnswers: [Int64: @Sendable (ActivityAnswer?) -> Void] = [:]
    /// The callback that gets the events of Live Activities.
    var activityEvents: (@Sendable (ActivityEvent) -> Void)?
    /// The callbacks that wait for the outcome of an address; `nil` where it could not be asked for.
    var openings: [Int64: @Sendable (OpeningAnswer?) -> Void] = [:]
    var media: [Int64: @Sendable (MediaAnswer) -> Void] = [:]

    /// Calls the callback of the request that a directive answers, once.
    mutating func answer(_ directive: AppSession.Directive) {
        switch directive {
        case .answerAuthorization(let request, let granted): authorizations.removeValue(forKey: request)?(granted)
        case .answerSettings(let request, let values): settings.removeValue(forKey: request)?(values)
        case .answerMedia(let request, let answer): media.removeValue(forKey: request)?(answer)
        case .answerCenter(let request, let answer): centers.removeValue(forKey: request)?.answer(.success(answer))
        case .answerChannel(let request, let answer): channelAnswers.removeValue(forKey: request)?(answer)
        case .answerActivity(let request, let answer): activityAnswers.removeValue(forKey: request)?(answer)
        case .tellActivities(let event): activityEvents?(event)
        case .answerOpening(let request, let answer): openings.removeValue(forKey: request)?(answer)
        case .failRequest(let request): fail(request)
        default: break
        }
    }

    /// Tells the callbacks of requests about Live Activities that no agent is connected.
    func delayActivities() { for answer in activityAnswers.values { answer(.delayed) } }

    private mutating func fail(_ request: Int64) {
        centers.removeValue(forKey: request)?.answer(.failure(.untaken))
        authorizations.removeValue(forKey: request)?(nil)
        settings.removeValue(forKey: request)?(nil)
        openings.removeValue(forKey: request)?(nil)
        channelAnswers.removeValue(forKey: request)?(nil)
        activityAnswers.removeValue(forKey: request)?(nil)
        media.removeValue(forKey: request)?(
            .failed(MediaFailure(.busy, "too much waits for the agent already, or this process is no app's")))
    }
}

/// A question to the notification centre that has no answer yet: written once, however often it is asked again.
struct CenterRequest {
    let frame: [UInt8]
    let answer: @Sendable (Result<CenterAnswer, AppHost.CenterError>) -> Void
}
