import AgentWire
import DeviceModel
import DevicePorts
import LocalSchedule
import Logging
import Observability

/// Requests that wait until the machine enters or leaves a circle on the earth.
extension Agent {
    /// How many circles are watched for all apps together.
    static let mostRegions = 4_096
    /// As on Apple's systems.
    private static let mostRegionsOfOneApp = 20

    /// Looks where the machine is as long as something waits for a place.
    func updatePositionWatch() {
        let isNeeded = regions.count > 0
        guard isNeeded != isLookingAround else { return }
        isLookingAround = isNeeded
        positionFault = nil
        guard let positions = parts.positions else {
            if isNeeded { logger.warning("Notifications wait for a place, and nothing tells where this machine is.") }
            return
        }
        guard isNeeded else {
            regions.forgetPosition()
            return positions.rest()
        }
        positions.start { [weak self] event in self?.enter { $0.handlePositionEvent(event) } }
    }

    private func handlePositionEvent(_ event: PositionEvent) {
        switch event {
        case .unavailable(let reason):
            logger.warning("Where this machine is, is not known.", metadata: [LogKey.error: "\(reason)"])
            positionFault = reason
            regions.forgetPosition()
        case .position(let position):
            positionFault = nil
            let reported = regions.positionReported(
                latitude: position.latitude, longitude: position.longitude, accuracy: position.accuracy,
                sinceBoot: parts.clock.now().sinceBoot)
            switch reported {
            case .success(let crossings): cross(crossings)
            case .failure:
                logger.warning("A position that is not on the earth was passed over.")
            }
            rearm()
        }
    }

    func cross(_ crossings: [RegionWatch.Crossing]) {
        for crossing in crossings {
            enqueue(.crossed(key: crossing.key, side: crossing.state))
            guard crossing.fires else { continue }
            let waiting: PendingRequest?
            do {
                waiting = try store.read { try $0.pending(key: crossing.key) }
            } catch {
                // All circles are watched anew then, from the sides that are stored.
                return storeFailed(error)
            }
            guard case .region(_, let repeats)? = waiting?.request.trigger else {
                removeFromSchedule([crossing.key])
                continue
            }
            if !repeats { removeFromSchedule([crossing.key]) }
            guard fire(crossing.key, occurrence: nil, isLast: !repeats) else { return }
        }
    }

    /// What is wrong with a circle: that it is none, or one too many.
    func fault(of region: NotificationTrigger.Region, of identifier: String, app: String) throws -> String? {
        guard region.onEntry || region.onExit else { return "its region tells neither of entry nor of exit" }
        var trial = RegionWatch(most: 1)
        guard trial.add(0, region) == nil else {
            return
                "its region is not a circle on the earth: a latitude from -90 to 90, a longitude from -180 to 180 and a "
                + "radius above 0 and up to 20000000 metres"
        }
        guard regions.count < Self.mostRegions else {
            return "\(Self.mostRegions) regions are waited for on this machine already"
        }
        flush()
        let waiting = try store.read { try $0.requests(app: app) }
        let others = waiting.filter { request in
            guard case .region? = request.trigger else { return false }
            return request.identifier != identifier
        }
        return others.count < Self.mostRegionsOfOneApp
            ? nil : "an app may wait for \(Self.mostRegionsOfOneApp) regions at once"
    }
}
