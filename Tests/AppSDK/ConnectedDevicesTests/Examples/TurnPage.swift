import ConnectedDevices

func turnPage(show: (UserDocument) -> Void) async throws {
    let channel = UserDocumentChannel.getForAccount()
    let place = try await channel.document(named: "place")
    let page = place?.content["page"] as? Int ?? 0
    try await channel.put(["page": page + 1], as: "place", over: place?.revision ?? 0)
    for await change in try await channel.changes() {
        if case .put(let document) = change { show(document) }
    }
}
