import PushCore

extension PushType {
    /// The reason why nothing on the device receives a push of this type; `nil` where the app does.
    ///
    /// - Parameter manifest: The manifest of the push's app.
    func missingReceiver(for manifest: AppManifest) -> String? {
        switch self {
        case .alert, .background, .liveactivity: nil
        case .voip:
            manifest.backgroundModes.contains(AppManifest.calls)
                ? nil : "the app takes no calls: its manifest has no \(AppManifest.calls) among its backgroundModes"
        case .location: "there are no location push extensions on this device"
        case .complication: "there are no complications on this device"
        case .fileprovider: "there are no file provider extensions on this device"
        case .mdm: "this device has no client of a management server"
        case .pushtotalk: "there are no Push to Talk sessions on this device"
        case .widgets: "there are no widgets on this device"
        case .controls: "there are no controls on this device"
        }
    }
}
