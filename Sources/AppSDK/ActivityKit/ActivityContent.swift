import AgentProtocol
import Foundation

/// The dynamic content of a Live Activity.
public struct ActivityContent<State: Decodable & Encodable & Hashable>: Codable, Hashable {
    /// The app's own data.
    public var state: State
    /// The time from which on the content is out of date; `nil` for never.
    public var staleDate: Date?
    /// The rank among the app's activities: of several, that with the highest score counts.
    public var relevanceScore: Double

    /// Makes content.
    public init(state: State, staleDate: Date?, relevanceScore: Double = 0.0) {
        self.state = state
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
    }
}

extension ActivityContent: Sendable where State: Sendable {}

extension ActivityContent: CustomStringConvertible {
    public var description: String {
        let date = staleDate.map { "\($0)" } ?? "never"
        return "ActivityContent(state: \(state), staleDate: \(date), relevanceScore: \(relevanceScore))"
    }
}

extension ActivityContent {
    /// Reads what the agent sent.
    init(_ content: LiveActivityContent) throws {
        self.init(
            state: try ActivityJSON.value(of: content.state),
            staleDate: content.staleDate.map { Date(timeIntervalSince1970: Double($0) / 1_000) },
            relevanceScore: content.relevanceScore)
    }

    /// The form in which it is sent to the agent.
    func encoded() throws -> LiveActivityContent {
        LiveActivityContent(
            state: try ActivityJSON.text(of: state), staleDate: staleDate.flatMap(ActivityJSON.milliseconds),
            relevanceScore: relevanceScore.isFinite ? relevanceScore : 0)
    }
}
