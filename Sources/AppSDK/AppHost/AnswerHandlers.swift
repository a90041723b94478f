import AgentProtocol

/// The callbacks that wait for the agent's answers, by the numbers of their requests.
struct AnswerHandlers {
    var lastRequest: Int64 = 0
    var authorizations: [Int64: @Sendable (Bool?) -> Void] = [:]
    var settings: [Int64: @Sendable (NotificationSettings?) -> Void] = [:]
    var centers: [Int64: CenterRequest] = [:]
    /// The callbacks that wait for answers to requests of the direct channel.
    var channelAnswers: [Int64: @Sendable (ChannelAnswer?) -> Void] = [:]
    var media: [Int64: @Sendable (MediaAnswer) -> Void] = [:]
}

/// A question to the notification centre that has no answer yet: written once, however often it is asked again.
struct CenterRequest {
    let frame: [UInt8]
    let answer: @Sendable (Result<CenterAnswer, AppHost.CenterError>) -> Void
}
