extension CommandSection {
    /// The help of `notifications` and `notify`.
    static let notificationHelp = CommandSection(
        """
        Print when a notification with these calendar fields would fire.
        Escribe cuándo aparecería una notificación con estos campos de calendario.

        Such as `aldaba notifications next --zone Europe/Berlin hour=2 minute=30`. Fields: era, year, month, day, \
        hour, minute, second, nanosecond, weekday (1 is Sunday), weekdayOrdinal, quarter, weekOfMonth, weekOfYear, \
        yearForWeekOfYear, dayOfYear, isLeapMonth (0 or 1). Times are those of the zone's clocks. No agent is asked.
        Por ejemplo, `aldaba notifications next --zone Europe/Berlin hour=2 minute=30`. Campos: era, year, month, \
        day, hour, minute, second, nanosecond, weekday (1 es el domingo), weekdayOrdinal, quarter, weekOfMonth, \
        weekOfYear, yearForWeekOfYear, dayOfYear, isLeapMonth (0 o 1). Las horas son las de los relojes de la zona. \
        No se pregunta a ningún agente.

        What must match, as field=number.
        Lo que debe coincidir, como campo=número.

        The zone by its name, such as Europe/Berlin (default: the machine's).
        La zona por su nombre, como Europe/Berlin (por omisión: la de la máquina).

        After when, in ISO 8601 (default: now).
        A partir de cuándo, en ISO 8601 (por omisión: ahora).

        The number of dates to print.
        El número de fechas que se escriben.

        The calendar, such as iso8601 (default: gregorian).
        El calendario, como iso8601 (por omisión: gregorian).

        Read JSON objects from standard input, one a line, with the members zone, after (seconds since 1970), \
        fields, count and calendar, and answer each with a line that holds the seconds since 1970.
        Lee de la entrada estándar objetos JSON, uno por línea, con los miembros zone, after (segundos desde 1970), \
        fields, count y calendar, y responde a cada uno con una línea que contiene los segundos desde 1970.

        List, open and dismiss delivered notifications.
        Enumera, abre y descarta las notificaciones entregadas.

        The notification's number, as `list` shows it.
        El número de la notificación, como lo muestra `list`.

        List delivered notifications, the newest last (the default).
        Enumera las notificaciones entregadas, las más nuevas al final (lo que se hace por omisión).

        Summarize delivered notifications by thread, the most relevant first.
        Resume las notificaciones entregadas por hilos, las más relevantes primero.

        Show a notification with its attachments and actions.
        Muestra una notificación con sus archivos adjuntos y sus acciones.

        Open a notification in its app; the app is started if necessary.
        Abre una notificación en su aplicación, que se arranca si hace falta.

        Perform an action of a notification.
        Ejecuta una acción de una notificación.

        The action's identifier, as `show` shows it.
        El identificador de la acción, como lo muestra `show`.

        The text of an action that asks for some.
        El texto de una acción que lo pide.

        Dismiss one notification, or all.
        Descarta una notificación, o todas.

        All of them.
        Todas.

        With --all: only those of one app.
        Con --all: solo las de una aplicación.

        Show a notification, and print its outcome.
        Muestra una notificación y escribe qué fue de ella.

        It prints the notification's id, by which a later one takes its place. With --wait the command ends when \
        somebody has answered. Then it prints the button's id, `open` for a click on the notification itself, or \
        `dismiss`; a reply's text follows on the next line.
        Escribe el identificador de la notificación, con el que otra posterior ocupa su lugar. Con --wait la orden \
        termina cuando alguien ha respondido. Entonces escribe el identificador del botón, `open` si se pulsó la \
        propia notificación, o `dismiss`; el texto de una respuesta va en la línea siguiente.

        With --in, --at, --every or --near it appears then, whether this machine was off meanwhile or not, and the \
        command prints its id and when it comes; `aldaba notifications pending` shows all that wait, at most 64 of \
        terminals, `aldaba notifications cancel` takes them back. --at takes 09:30, "2026-12-24 18:00" or \
        2026-12-24T18:00+01:00; --every takes 90m, hour, or with --at day or a day of the week. What was missed by \
        more than a day is dropped: `aldaba settings aldaba.notify missed-hours=72` keeps it for longer.
        Con --in, --at, --every o --near aparece en ese momento, aunque la máquina se haya apagado entretanto, y la \
        orden escribe su identificador y cuándo llega; `aldaba notifications pending` muestra todas las que esperan, \
        64 como máximo de las terminales, y `aldaba notifications cancel` las anula. --at admite 09:30, "2026-12-24 \
        18:00" o 2026-12-24T18:00+01:00; --every admite 90m, hour o, con --at, day o un día de la semana. Lo que se \
        perdió por más de un día se descarta: `aldaba settings aldaba.notify missed-hours=72` lo conserva más tiempo.

        The title.
        El título.

        The text.
        El texto.

        A line between the two.
        Una línea entre los dos.

        A button; may be repeated.
        Un botón; se puede repetir.

        A button that asks for text; may be repeated.
        Un botón que pide un texto; se puede repetir.

        The placeholder of the reply field.
        El texto de muestra del campo de respuesta.

        passive, active, time-sensitive or critical.
        passive, active, time-sensitive o critical.

        A picture to show beside the text.
        Una imagen que se muestra junto al texto.

        A later notification with the same id takes this one's place.
        Una notificación posterior con el mismo identificador ocupa el lugar de esta.

        Show it after a while, such as 10m or 1h30m.
        La muestra pasado un tiempo, como 10m o 1h30m.

        Show it at a time.
        La muestra a una hora.

        Show it again and again.
        La muestra una y otra vez.

        The time zone of --at (default: wherever this machine is then).
        La zona horaria de --at (por omisión: la del lugar en que esté entonces la máquina).

        Show it near a place.
        La muestra cerca de un lugar.

        With --near: on leaving the place.
        Con --near: al salir del lugar.

        Show it on another of your devices, by id or name; the answer comes from there.
        La muestra en otro de tus dispositivos, por id o nombre; la respuesta viene de allí.

        Play the default sound.
        Reproduce el sonido por omisión.

        Wait for the answer.
        Espera la respuesta.

        low, normal or critical, in place of --level.
        low, normal o critical, en lugar de --level.

        A button, and wait for the answer; may be repeated. A button without an id has its number, from 0.
        Un botón, y espera la respuesta; puede repetirse. Un botón sin id tiene su número, desde 0.

        A picture, in place of --image; the name of an icon has no effect.
        Una imagen, en lugar de --image; el nombre de un icono no tiene efecto.

        The name of a program, which is shown as --subtitle.
        El nombre de un programa, que se muestra como --subtitle.

        The id of the notification whose place this one takes, as --id.
        El id de la notificación cuyo lugar ocupa esta, como --id.

        Print the id first, also with --wait.
        Escribe primero el id, también con --wait.

        With --wait: the milliseconds to wait, as --timeout.
        Con --wait: los milisegundos que espera, como --timeout.

        A hint: urgency, image-path, sound-name and suppress-sound count; others have no effect.
        Una indicación: cuentan urgency, image-path, sound-name y suppress-sound; las demás no tienen efecto.

        Has no effect.
        No tiene efecto.

        The seconds to wait for the answer (exit code 7 after that).
        Los segundos que se espera la respuesta (después, código de salida 7).

        Print the answer, or what waits, as a JSON object.
        Escribe la respuesta, o lo que espera, como objeto JSON.

        List scheduled notifications with their next three times and the reason.
        Enumera las notificaciones programadas, con sus tres próximas horas y el motivo.

        Cancel scheduled notifications.
        Anula notificaciones programadas.

        The identifiers, as `pending` shows them.
        Los identificadores, como los muestra `pending`.

        All that the app has.
        Todas las que tiene la aplicación.

        The app of which they are.
        La aplicación de la que son.
        """)
}
