import Hummingbird
import NIOCore

/// A request of the control API, with the connection that it came on.
package struct ControlContext: RequestContext {
    /// What Hummingbird keeps of a request.
    package var coreContext: CoreRequestContextStorage
    /// The connection that the request came on.
    package let channel: any Channel

    /// Takes what the server knows of a request.
    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
