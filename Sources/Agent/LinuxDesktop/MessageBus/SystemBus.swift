/// The bus of the whole machine.
package enum SystemBus {
    /// `DBUS_SYSTEM_BUS_ADDRESS`, else the well-known socket of the D-Bus specification, whether it is there or not.
    package static func address(environment: [String: String]) -> String {
        let given = environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? ""
        return given.isEmpty ? "unix:path=/var/run/dbus/system_bus_socket" : given
    }
}
