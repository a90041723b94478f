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
        // The parent of an HTTP/2 stream is its connection, whose parent is the listener; a connection's is the listener.
        let parent = source.channel.parent
        channel = parent?.parent == nil ? source.channel : parent ?? source.channel
    }
}
