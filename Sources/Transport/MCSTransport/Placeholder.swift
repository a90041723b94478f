// MCSTransport
