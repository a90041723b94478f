/// The texts of the pages in one language. Messages of the agent and the reasons of scheduled notifications are in English.
package struct PageTexts: Sendable {
    var language: PageLanguage
    var notifications, scheduled, settings, allApps: String
    var noNotifications, noScheduled, noApps, older: String
    var open, dismiss, dismissAll, cancel, send, reply: String
    var nextTimes, badge: String
    var save, saved, openAppSettings, runs, doesNotRun: String
    var ended, back, failed, continues, notOpened: String
    /// The labels of settings by the names that the agent gives them; one that is missing is shown by its name.
    var settingNames: [String: String]
    /// The labels of values; of a setting alone as `NAME=VALUE`, else for all.
    var valueNames: [String: String]

    func name(ofSetting name: String) -> String { settingNames[name] ?? name }

    func name(of value: String, in setting: String) -> String {
        valueNames["\(setting)=\(value)"] ?? valueNames[value] ?? value
    }

    static let english = PageTexts(
        language: .english,
        notifications: "Notifications", scheduled: "Scheduled", settings: "Settings", allApps: "All apps",
        noNotifications: "No notifications.", noScheduled: "Nothing is scheduled.", noApps: "No app is installed.",
        older: "Older notifications are not shown; dismiss some to see them.",
        open: "Open", dismiss: "Dismiss", dismissAll: "Dismiss all", cancel: "Cancel", send: "Send", reply: "Reply",
        nextTimes: "Next", badge: "Badge",
        save: "Save", saved: "Saved.", openAppSettings: "Open the app’s own settings", runs: "runs",
        doesNotRun: "does not run",
        ended: "aldaba center has ended, and this page shows what was there before.", back: "Back",
        failed: "That did not work", continues: "Continue",
        notOpened: "This address belongs to a run of `aldaba center`. Open the address that it printed.",
        settingNames: [
            "allowed": "Allow notifications", "alerts": "Alerts on the screen", "sounds": "Sounds",
            "badges": "Badges", "list": "Keep in the list", "lock-screen": "On the locked screen",
            "time-sensitive": "Time-sensitive in quiet hours", "critical": "Critical alerts", "style": "Alert style",
            "previews": "Show previews", "missed": "Missed notifications", "missed-hours": "Deliver late, up to hours",
            "quiet-hours": "Quiet hours (such as 22:00-07:00, or off)",
        ],
        valueNames: [
            "yes": "Yes", "no": "No", "quietly": "Quietly, in the list only", "ask": "Ask when the app wants to",
            "none": "None", "banner": "Banner, goes by itself", "alert": "Alert, stays until answered",
            "always": "Always", "whenUnlocked": "When unlocked", "never": "Never",
            "deliver": "Deliver late", "drop": "Drop",
        ])

    static let spanish = PageTexts(
        language: .spanish,
        notifications: "Notificaciones", scheduled: "Programadas", settings: "Ajustes",
        allApps: "Todas las aplicaciones",
        noNotifications: "No hay notificaciones.", noScheduled: "No hay nada programado.",
        noApps: "No hay ninguna aplicación instalada.",
        older: "Las notificaciones más antiguas no se muestran; descarte algunas para verlas.",
        open: "Abrir", dismiss: "Descartar", dismissAll: "Descartar todas", cancel: "Cancelar", send: "Enviar",
        reply: "Respuesta", nextTimes: "Próximas", badge: "Globo",
        save: "Guardar", saved: "Guardado.", openAppSettings: "Abrir los ajustes propios de la aplicación",
        runs: "en marcha", doesNotRun: "parada",
        ended: "aldaba center ha terminado, y esta página muestra lo que había antes.", back: "Volver",
        failed: "No se ha podido hacer", continues: "Continuar",
        notOpened: "Esta dirección pertenece a una ejecución de `aldaba center`. Abra la dirección que imprimió.",
        settingNames: [
            "allowed": "Permitir notificaciones", "alerts": "Alertas en la pantalla", "sounds": "Sonidos",
            "badges": "Globos", "list": "Conservar en la lista", "lock-screen": "En la pantalla bloqueada",
            "time-sensitive": "Urgentes en las horas de silencio", "critical": "Alertas críticas",
            "style": "Estilo de alerta", "previews": "Mostrar previsualizaciones",
            "missed": "Notificaciones perdidas", "missed-hours": "Entregar tarde, hasta (horas)",
            "quiet-hours": "Horas de silencio (como 22:00-07:00, u off)",
        ],
        valueNames: [
            "yes": "Sí", "no": "No", "quietly": "En silencio, solo en la lista",
            "ask": "Preguntar cuando la aplicación lo pida",
            "none": "Ninguno", "banner": "Tira, desaparece sola", "alert": "Alerta, queda hasta responder",
            "always": "Siempre", "whenUnlocked": "Con la pantalla desbloqueada", "never": "Nunca",
            "deliver": "Entregar tarde", "drop": "Descartar",
        ])
}
