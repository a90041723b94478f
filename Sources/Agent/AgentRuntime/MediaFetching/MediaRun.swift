import AgentEngine
import AgentProtocol
import NIOPosix

/// A running fetch: resolves names, sends requests, and writes the received bytes, as ``MediaFetch`` directs.
struct MediaRun {
    /// The outcome of a fetch.
    enum Outcome {
        case failed(MediaFailure)
        /// The file that is kept is the one.
        case kept
        case received(ReceivedFile, FetchedMediaKind, MediaValidator?, from: MediaURL)
    }

    let parts: MediaFetcher.Parts
    let folder: MediaFolder
    let threads: NIOThreadPool
    /// The received file; the caller deletes it unless it is kept.
    private(set) var file: ReceivedFile?
    private var exchange: MediaExchange?

    init(parts: MediaFetcher.Parts, folder: MediaFolder, threads: NIOThreadPool) {
        self.parts = parts
        self.folder = folder
        self.threads = threads
    }

    /// Runs to the end. Cancelled, its time is up.
    mutating func follow(_ fetch: inout MediaFetch) async -> Outcome {
        var directive = fetch.begin()
        while true {
            if Task.isCancelled, case .fail = directive { directive = fetch.handle(.timedOut) }
            switch directive {
            case .fail(let failure): return await end(.failed(failure))
            case .finishKept: return await end(.kept)
            case .finish(let kind, let validator, let source):
                guard let file else { return await end(.failed(MediaFailure(.notMedia, "nothing came"))) }
                return await end(.received(file, kind, validator, from: source))
            case .receive:
                do {
                    directive = try await receive(&fetch)
                } catch _ where Task.isCancelled {
                    directive = fetch.handle(.timedOut)
                } catch {
                    return await end(.failed(MediaFailure(.noRoom, "\(error)")))
                }
            case .resolve, .request: directive = await ask(directive, &fetch)
            }
        }
    }

    private mutating func ask(_ directive: MediaFetch.Directive, _ fetch: inout MediaFetch) async
        -> MediaFetch.Directive
    {
        switch directive {
        case .resolve(let host, let port):
            do {
                return fetch.handle(.resolved(try await parts.resolver.addresses(of: host, port: port)))
            } catch {
                return fetch.handle(.unresolved("\(error)"))
            }
        case .request(let url, let address, let validator):
            await exchange?.close()
            let tls = fetch.isOwnMedia ? parts.ownServer?.tls ?? parts.tls : parts.tls
            var next = MediaExchange(url, address: address, tls: tls)
            let event = await next.begin(validator)
            exchange = next
            return fetch.handle(event)
        default: return directive
        }
    }

    private mutating func receive(_ fetch: inout MediaFetch) async throws -> MediaFetch.Directive {
        let event = await exchange?.next() ?? .ended
        let directive = fetch.handle(event)
        guard case .received(let bytes) = event, directive == .receive else { return directive }
        let known = file
        file = try await threads.runIfActive { [folder] in
            let file = try known ?? folder.receive()
            try file.append(bytes)
            return file
        }
        return directive
    }

    private mutating func end(_ outcome: Outcome) async -> Outcome {
        await exchange?.close()
        exchange = nil
        return outcome
    }
}
