"""A shop that tells its customers of their orders by APNs and FCM."""
