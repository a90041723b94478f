import Networking

/// The help text of each of our metrics, by its name. A test compares the names with those in the code.
package enum MetricFamilies {
    /// Every family, with its help and where needed its buckets.
    package static let all: [String: MetricFamily] = helps.mapValues { MetricFamily($0) }
        .merging(latencies) { $1 }.merging(process) { $1 }

    private static let helps = [
        "aldaba_build_info": "The version that runs; always 1.",
        "aldaba_metrics_refused_series_total": "Measurements that would have needed more series than the limit.",

        "aldaba_apns_limits_total":
            "Connections of providers that apple-limits slowed to one stream, or ended, by limit.",
        "aldaba_provider_requests_total": "Requests to the APNs provider API, by outcome: accepted, or Apple's reason.",
        "aldaba_fcm_requests_total": "Messages that came by FCM's API, by outcome.",
        "aldaba_legacy_pushes_total": "Pushes that came by the old binary interface, by outcome.",
        "aldaba_legacy_feedback_total": "Device tokens that the old feedback service has told.",
        "aldaba_connections": "Open connections of a TLS listener: apns is providers, device is devices.",
        "aldaba_connections_refused_total": "Connections that a listener did not take, by reason.",
        "aldaba_connections_replaced_total": "Connections without a valid credential that gave way to new ones.",
        "aldaba_http2_floods_total":
            "Connections of providers that were closed for too many frames that complete no request, by the frame's kind.",
        "aldaba_accept_failures_total":
            "Times that a listener could not take a connection, for want of a file or memory.",
        "aldaba_certificate_expiry_timestamp_seconds": "When the server's certificate ends, in seconds since 1970.",
        "aldaba_certificate_files_usable": "1 while the certificate's files can be used and the key fits; else 0.",

        "aldaba_apns_client_connections": "Connections to APNs, by state: dialing, ready, retired.",
        "aldaba_apns_client_requests": "Requests to APNs that have not ended, by state: queued, in-flight.",
        "aldaba_apns_client_results_total": "Requests to APNs that ended, by result; unknown is no answer.",
        "aldaba_apns_client_resends_total": "Requests that were sent to APNs again.",
        "aldaba_apns_client_goaways_total": "Connections that APNs has ended with GOAWAY.",

        "aldaba_notifications_waiting": "Notifications that wait for their devices, as of the last sweep.",
        "aldaba_oldest_waiting_seconds": "For how long the oldest of those has waited; 0 where none does.",
        "aldaba_notification_states_total": "Notifications that reached a state, among them the ends; once a second.",
        "aldaba_notification_ends_total": "Notifications that ended, by reason; once a second.",
        "aldaba_sync_group_clearings_total": "Notifications that were taken back since another device answered them.",
        "aldaba_timelines_not_recorded_total": "Attempts (TTL 0) whose timelines were not kept: there were too many.",
        "aldaba_receipts_beyond_limit_total": "Receipts that were not kept, since their timeline has too many lines.",
        "aldaba_sessions": "Devices that are logged in.",
        "aldaba_nodes": "Servers of the database that run, this one among them.",
        "aldaba_carrier_connected": "1 while messages to other servers can be sent by NATS.",
        "aldaba_node_messages_total": "Messages to other servers, by outcome: received, unanswered, no_node.",
        "aldaba_node_messages_late_total":
            "Batches of other nodes that arrived after newer ones, or again; they count as lost.",
        "aldaba_node_messages_malformed_total": "Messages that no server of the same database has sealed.",
        "aldaba_missed_wakeups_total": "Devices that other servers were told of by the database: a message was lost.",
        "aldaba_transaction_conflicts_total": "Batches that were tried again: another server's was in their way.",

        "aldaba_store_bytes":
            "The size of the database's files: database is the file, log what is not copied into it yet.",
        "aldaba_database_usable":
            "1 while a database can be used, by database; 0 where it is damaged, empty, missing or of a newer version.",
        "aldaba_store_failures_total": "Batches that the store did not commit.",
        "aldaba_commands_lost_total": "Lines of timelines that were lost, since the store failed for too long.",

        "aldaba_device_connections": "Connections of devices, logged in or not.",
        "aldaba_device_logins_total": "Logins of devices, by outcome.",
        "aldaba_device_closes_total": "Connections of devices that the server closed, by reason.",
        "aldaba_device_notifications_sent_total": "Notifications that were written to devices' connections.",
        "aldaba_device_notifications_not_sent_total":
            "Attempts that were not written: the connection was full or closing.",
        "aldaba_device_notifications_acknowledged_total": "Notifications that devices have stored.",
        "aldaba_device_receipts_total": "Receipts that devices have sent.",
        "aldaba_device_receipts_ignored_total": "Receipts of notifications that are unknown or not the device's.",
        "aldaba_device_upstream_refused_total": "Messages of devices that were refused.",
        "aldaba_device_extensions_total": "Notifications that waited for service extensions, by outcome.",
        "aldaba_app_extensions_total":
            "The same by app and version of the extension; what is beyond 64 pairs, or 8 versions of an app, is other.",

        "aldaba_app_messages_total": "Messages of apps to their providers, by outcome.",
        "aldaba_app_messages_streamed_total": "Messages of apps that were written to providers' streams.",
        "aldaba_notification_streams": "Streams on which consoles and programs follow notifications.",
        "aldaba_app_message_streams": "Streams on which providers take messages of their apps.",
        "aldaba_hub_report_streams": "Streams on which providers follow what becomes of a hub's messages.",
        "aldaba_hub_refusals_total":
            "Puts of installations that a hub refused, by the quota that each would have passed.",
        "aldaba_app_messages_expired_total": "Messages of apps that no provider took in time.",
        "aldaba_webhook_requests_total": "Requests to providers' webhooks, by outcome.",
        "aldaba_hub_webhook_requests_total": "Requests to hubs' webhooks, by outcome.",
        "aldaba_hub_events_dropped_total":
            "Events that hubs' webhooks did not take: expired after three days, or full: too many waited.",
        "aldaba_relay_forwarded_total": "Frames between devices that were passed on: messages, and pieces of files.",
        "aldaba_relay_letters_total": "Messages without an answer that were kept for a device.",
        "aldaba_relay_wakes_total": "Pushes that were to wake a device for relaying, by what became of them.",
        "aldaba_relay_undelivered_total": "Frames between devices that were not passed on.",

        "aldaba_media_bytes": "The size of the files of notifications.",
        "aldaba_media_files": "The number of the files of notifications.",
        "aldaba_media_quota_bytes": "How large those files may be together.",
        "aldaba_media_served_bytes_total": "Bytes of files that devices have fetched, by kind.",
        "aldaba_media_requests_total": "Requests for files, by outcome.",
        "aldaba_media_bucket_requests_total": "Requests to the bucket of files, by action and outcome.",
        "aldaba_media_uploads_total": "Files that providers have uploaded, by outcome.",

        "aldaba_agent_connected": "Whether the agent is logged in at its server.",
        "aldaba_agent_sessions_total": "Sessions with the server that were opened.",
        "aldaba_agent_session_losses_total": "Sessions that were lost or could not be opened.",
        "aldaba_agent_has_screen": "Whether notifications can be seen.",
        "aldaba_agent_apps": "Installed apps.",
        "aldaba_agent_apps_connected": "Apps that run and are connected to the agent.",
        "aldaba_agent_listed": "Notifications in the list, by app.",
        "aldaba_agent_badge": "The number on the app's icon.",
        "aldaba_agent_extensions_total":
            "Notifications that waited for a service extension, by app, version and outcome.",
    ]

    private static let latencies = [
        "aldaba_acceptance_seconds": MetricFamily(
            "From a notification's passing of the checks to its synced commit, which its provider's answer follows."),
        "aldaba_commit_seconds": MetricFamily(
            "Transactions of the store, from their first row to the end of the sync."),
        "aldaba_delivery_seconds": MetricFamily(
            "From a notification's acceptance to its device's acknowledgement, the device's absence included.",
            bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600, 3600, 21_600, 86_400, 604_800]),
    ]

    private static let process = [
        "process_cpu_seconds_total": "Processor time that was used, in seconds.",
        "process_threads": "Threads of the process.",
        "process_start_time_seconds": "When the process began, in seconds since 1970.",
        "process_virtual_memory_bytes": "Size of the virtual memory.",
        "process_resident_memory_bytes": "Size of the memory in use.",
        "process_open_fds": "Open files and connections.",
        "process_max_fds": "How many of them there may be.",
    ].mapValues { MetricFamily($0) }
}
