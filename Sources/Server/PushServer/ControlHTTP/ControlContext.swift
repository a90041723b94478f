import Hummingbird
import NIOCore

/// A request's context in the control API, with its connection.
package struct ControlContext: RequestContext {
    /// The storage that Hummingbird requires.
    package var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    package let channel: any Channel

    /// Creates the context of a request.
    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
