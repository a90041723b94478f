extension CommandSection {
    /// The help of `aldaba audit`, and its messages.
    static let auditHelp = CommandSection(
        """
        List who changed what on a server, the newest first.
        Enumera quién cambió qué en un servidor, lo más reciente primero.

        The log is in the data folder; the server need not run. It has every change by the console, the API and the \
        command line, and nothing deletes or changes an entry.
        El registro está en la carpeta de datos; no hace falta que el servidor esté en marcha. Tiene todos los cambios \
        hechos desde la consola, la API y la línea de órdenes, y nada borra ni cambia una entrada.

        Only these changes: app.add, or app for all of apps.
        Solo estos cambios: app.add, o app para todos los de aplicaciones.

        Only changes of objects whose name has this part.
        Solo los cambios de objetos cuyo nombre contiene esta parte.

        Only changes by this actor: a name, a key's id, or a kind such as user.
        Solo los cambios de este autor: un nombre, el identificador de una clave, o un tipo como user.

        Only changes since then: a time such as 2026-11-21T04:05:06Z, or 90m, 12h, 7d ago.
        Solo los cambios desde entonces: una hora como 2026-11-21T04:05:06Z, o hace 90m, 12h, 7d.

        --since: "{text}" is no time; 2026-11-21T04:05:06Z, 90m, 12h or 7d would be right
        --since: "{text}" no es una hora; valdría 2026-11-21T04:05:06Z, 90m, 12h o 7d

        nothing was changed, since the audit log cannot be written: {reason}
        no se cambió nada, porque no se puede escribir en el registro de auditoría: {reason}

        the change was made, but the audit log does not say so: {reason}
        se hizo el cambio, pero el registro de auditoría no lo dice: {reason}
        """)
}
