import HTTPTypes
import HubProtocol
import Hummingbird
import PushCore
import PushServer

extension AzureRoutes {
    /// Installations: put, patch, get and delete, with Azure's own codes.
    func addInstallations(to router: Router<ControlContext>) {
        router.put(
            ":hub/installations/:id",
            use: handler(.listen, isWrite: true) { call in
                let installation = try InstallationJSON.read(try await call.request.tree(), id: call.name)
                guard installation.channel != nil else {
                    throw InstallationError("/pushChannel", "the push channel is missing")
                }
                try hubs.validate(installation)
                let (stored, _) = try await hubs.put(installation, of: call.hub)
                return stored.tagged(Response(status: .ok))
            })
        router.patch(
            ":hub/installations/:id",
            use: handler(.listen, isWrite: true) { call in
                let patch = try await call.request.tree()
                let stored = try await hubs.change(call.name, of: call.hub) {
                    document throws(InstallationError) in
                    let changed = try InstallationPatch.apply(patch, to: document)
                    try hubs.validate(changed, insteadOf: document, id: call.name)
                    return changed
                }
                return stored.tagged(Response(status: .ok))
            })
        router.get(
            ":hub/installations/:id",
            use: handler(.listen) { call in
                let stored = try await hubs.installation(call.name, of: call.hub)
                return stored.tagged(.json(tree: stored.answer))
            })
        router.delete(
            ":hub/installations/:id",
            use: handler(.listen, isWrite: true) { call in
                try await hubs.delete(call.name, of: call.hub)
                return Response(status: .noContent)
            })
    }
}

extension StoredInstallation {
    /// The JSON of the installation in the form that Azure's clients read.
    var answer: JSONValue {
        InstallationJSON.answer(installation, isExpired: fault != nil, updatedAt: updatedAt)
    }

    /// A response with the version as its entity tag.
    func tagged(_ response: Response) -> Response {
        var response = response
        response.headers[.eTag] = "\"\(version)\""
        return response
    }
}
