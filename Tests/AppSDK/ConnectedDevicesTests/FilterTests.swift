import RelayProtocol
import Testing

@testable import ConnectedDevices

@Suite struct FilterTests {
    private func system(
        _ reach: RelayRouteKind?, presence: RelayPresence = .online, kind: String = "phone"
    ) -> RemoteSystem {
        var device = RelayDevice(
            id: "1", name: "n", kind: kind, presence: presence,
            apps: [
                RelayApp(id: "here", name: "a", presence: presence),
                RelayApp(id: "gone", name: "a", presence: .offline),
            ])
        device.reach = reach
        return RemoteSystem(device)
    }

    @Test("A device has the names of its maker and its model, which are empty where it does not tell them")
    func make() {
        var device = RelayDevice(id: "1", name: "n", kind: "laptop")
        #expect(RemoteSystem(device).manufacturerDisplayName == "" && RemoteSystem(device).modelDisplayName == "")
        (device.manufacturer, device.model) = ("LENOVO", "21AH")
        #expect(RemoteSystem(device).manufacturerDisplayName == "LENOVO")
        #expect(RemoteSystem(device).modelDisplayName == "21AH")
    }

    @Test(
        "A device must pass every filter",
        arguments: [
            ([], true), ([.kind(["Phone", "tablet"])], true), ([.kind(["desktop"])], false), ([.kind([])], false),
            ([.statusType(.available)], true), ([.discoveryType(.proximal)], false), ([.discoveryType(.cloud)], true),
            ([.platform([.linux]), .kind(["desktop"])], false), ([.account(.device)], true),
            ([.account(.anonymousAccount)], false),
            ([RemoteSystemKindFilter(["phone"]), RemoteSystemPlatformFilter([.linux])], true),
            (
                [RemoteSystemAuthorizationKindFilter(.sameUser), RemoteSystemLocalVisibilityKindFilter(.hideLocalApp)],
                true
            ),
        ] as [([RemoteSystemFilter], Bool)])
    func filters(_ filters: [RemoteSystemFilter], _ passes: Bool) {
        #expect(filters.allSatisfy { $0.passes(system(.relay)) } == passes)
    }

    @Test("The agent passes what the app passes, whatever filters there are together")
    func agents() {
        let filters: [RemoteSystemFilter] =
            [
                .account(.device), .account(.anonymousAccount), .authorizationKind(.anonymous),
                .kind(["Phone", "tablet"]),
            ]
            + [.kind(["desktop", "phone"]), .kind([]), .localVisibilityKind(.hideLocalApp), .platform([.linux])]
            + [.platform([.unknown, .iOS]), .platform([])] + RemoteSystemStatusType.allCases.map { .statusType($0) }
            + RemoteSystemDiscoveryType.allCases.map { .discoveryType($0) }
        var devices: [RelayDevice] = []
        for (kind, platform) in [("PHONE", "linux"), ("desktop", "ios"), ("tablet", "plan9"), ("tv", "windows")] {
            for presence in RelayPresence.allCases {
                for reach in [nil, RelayRouteKind.direct, .relay, .wake] {
                    var device = RelayDevice(id: "1", name: "n", kind: kind, platform: platform, presence: presence)
                    device.reach = reach
                    devices.append(device)
                }
            }
        }
        for first in filters {
            for second in filters {
                let agents = RemoteSystemFilter.agentFilter([first, second])
                for device in devices {
                    let system = RemoteSystem(device)
                    #expect(agents.passes(device) == (first.passes(system) && second.passes(system)))
                }
            }
        }
    }

    @Test(
        "A device is proximal while a connection of its own reaches it, and the cloud's otherwise",
        arguments: [
            (.direct, .online, [.any, .proximal]), (.relay, .online, [.any, .cloud]),
            (.wake, .wakeable, [.any, .cloud]), (nil, .offline, [.any, .cloud]),
        ] as [(RelayRouteKind?, RelayPresence, [RemoteSystemDiscoveryType])])
    func discovery(_ reach: RelayRouteKind?, _ presence: RelayPresence, _ types: [RemoteSystemDiscoveryType]) {
        let system = system(reach, presence: presence)
        #expect(
            RemoteSystemDiscoveryType.allCases.filter { RemoteSystemDiscoveryTypeFilter($0).passes(system) } == types)
        #expect(system.isAvailableByProximity == (reach == .direct))
        #expect(!system.isAvailableBySpatialProximity)
    }

    @Test("An app is near where its device is, and it can be reached")
    func apps() {
        #expect(system(.direct).apps.map(\.isAvailableByProximity) == [true, false])
        #expect(system(.relay).apps.map(\.isAvailableByProximity) == [false, false])
        #expect(system(.direct).apps.allSatisfy { !$0.isAvailableBySpatialProximity })
    }

    @Test(
        "A device that a push brings back is available, one that nothing does is not",
        arguments: [(.online, true), (.wakeable, true), (.offline, false)] as [(RelayPresence, Bool)])
    func status(_ presence: RelayPresence, _ isAvailable: Bool) {
        let system = system(nil, presence: presence)
        #expect(RemoteSystemStatusTypeFilter(.available).passes(system) == isAvailable)
        #expect(RemoteSystemStatusTypeFilter(.any).passes(system))
    }

    @Test("Whoever watches one way hears of a device that comes to it and leaves it")
    func changes() {
        let watcher = RemoteSystemWatcher(filters: [.discoveryType(.proximal)])
        let told = Told()
        watcher.remoteSystemAdded.subscribe { told.add("added \($0.isAvailableByProximity)") }
        watcher.remoteSystemUpdated.subscribe { _ in told.add("updated") }
        watcher.remoteSystemRemoved.subscribe { _ in told.add("removed") }
        var device = RelayDevice(id: "1", name: "n", kind: "phone")
        for reach in [RelayRouteKind.relay, .direct, .direct, .relay] {
            device.reach = reach
            watcher.take(.notice(.updated(device)))
        }
        #expect(told.all == ["added true", "removed"])
    }
}
