/// The identity of a request by which a repetition is recognized, when its app has not received the answer.
package struct RequestMark: Sendable, Hashable {
    /// How many of an app's newest requests are remembered; no app has more waiting for an answer.
    package static let remembered: Int64 = 1_024
    /// Bytes that a run's name may have.
    package static let longestRun = 64

    /// The run of the app that asked.
    package var run: String
    /// The app's number for it, which rises within a run.
    package var request: Int64

    /// The mark of one request of a run; the run's name is at most ``longestRun`` bytes.
    package init(run: String, request: Int64) {
        self.run = run
        self.request = request
    }
}
