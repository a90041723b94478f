// DeviceEndpoint
