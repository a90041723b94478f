import CoreLocation

/// A circle of 200 m that counts when it is entered: what `UNLocationNotificationTrigger(region:repeats:)` takes.
func officeRegion() -> CLCircularRegion {
    let center = CLLocationCoordinate2D(latitude: 52.520, longitude: 13.405)
    let region = CLCircularRegion(center: center, radius: 200, identifier: "office")
    region.notifyOnExit = false
    return region
}
