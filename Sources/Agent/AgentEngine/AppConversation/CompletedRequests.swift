/// The requests of one run of an app that are done, as far back as it may ask them again.
package struct CompletedRequests: Sendable {
    /// The name that the app gave the run.
    package let run: String
    /// The numbers of the requests that are done.
    package private(set) var done: Set<Int64>

    /// A run of which the store knows these requests to be done.
    package init(run: String, done: Set<Int64>) {
        self.run = run
        self.done = done
    }

    /// Counts a request as done from now on.
    ///
    /// - Returns: `nil` for one that is done.
    package mutating func begin(_ request: Int64) -> RequestMark? {
        guard done.insert(request).inserted else { return nil }
        if done.count > 2 * Int(RequestMark.remembered) {
            done = Set(done.sorted().suffix(Int(RequestMark.remembered)))
        }
        return RequestMark(run: run, request: request)
    }
}
