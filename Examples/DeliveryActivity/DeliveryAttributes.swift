import ActivityKit

/// A delivery, as the manifest's texts show it.
struct DeliveryAttributes: ActivityAttributes {
    struct ContentState: Codable, Hashable {
        var driverName = "Ana"
        var minutes = 20
        /// From 0 to 1.
        var progress = 0.0
    }

    var orderNumber: String
}

extension DeliveryAttributes.ContentState {
    /// Changes a member by its name; answers whether there is one, and the value is one of its type.
    mutating func set(_ name: String, to value: String) -> Bool {
        switch name {
        case "driverName": driverName = value
        case "minutes":
            guard let minutes = Int(value) else { return false }
            self.minutes = minutes
        case "progress":
            guard let progress = Double(value) else { return false }
            self.progress = progress
        default: return false
        }
        return true
    }
}
