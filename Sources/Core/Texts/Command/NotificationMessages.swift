extension CommandSection {
    /// Messages of `notifications` and `notify`.
    static let notificationMessages = CommandSection(
        """
        give fields, such as hour=9 minute=30
        dé campos, como hour=9 minute=30

        "{text}" is not field=number, such as hour=9
        "{text}" no es campo=número, como hour=9

        the field {name} is given twice
        el campo {name} está dos veces

        "{text}" is not a time in ISO 8601, such as 2026-03-28T00:00:00Z
        "{text}" no es una hora en ISO 8601, como 2026-03-28T00:00:00Z

        Never.
        Nunca.

        a line of standard input is not such an object: {error}
        una línea de la entrada estándar no es un objeto así: {error}

        between 1 and {most} can be told
        se pueden decir entre 1 y {most}

        there is no field "{name}"; there are {names}, and isLeapMonth, which is 0 or 1
        no existe el campo "{name}"; existen {names}, e isLeapMonth, que es 0 o 1

        there is no calendar "{name}"; there are {names}
        no existe el calendario "{name}"; existen {names}

        name one notification by its number, as `aldaba notifications` shows it
        nombre una notificación por su número, como lo muestra `aldaba notifications`

        There are no notifications.
        No hay notificaciones.

        {count} older ones are not shown; see `threads`, or take some away.
        No se muestran {count} anteriores; véase `threads`, o quite algunas.

        --app goes with --all
        --app va con --all

        give a notification's number, or --all
        dé el número de una notificación, o --all

        --timeout must be a number of seconds from 0 to 1000000
        --timeout debe ser un número de segundos de 0 a 1000000

        --wait and --timeout need a notification that appears at once
        --wait y --timeout necesitan una notificación que aparezca en seguida

        --button and --reply need a notification that appears at once: nobody hears a later answer
        --button y --reply necesitan una notificación que aparezca en seguida: nadie recibe una respuesta posterior

        nobody could answer: the agent has no screen, for it runs without a desktop's session bus. With --timeout \
        SECONDS it waits for an answer by `aldaba notifications act` or `open`
        nadie podría responder: el agente no tiene pantalla, pues funciona sin el bus de sesión de un escritorio. \
        Con --timeout SECONDS espera una respuesta de `aldaba notifications act` u `open`

        nobody answered in time: the agent has no screen, for it runs without a desktop's session bus. `aldaba \
        notifications act` and `open` can answer
        nadie ha respondido a tiempo: el agente no tiene pantalla, pues funciona sin el bus de sesión de un escritorio. \
        Pueden responder `aldaba notifications act` y `open`

        it appears like any other, for notifications of terminals may not be critical; `aldaba settings {app} \
        critical=on` allows it
        aparece como cualquier otra, pues las notificaciones de las terminales no pueden ser críticas; lo permite \
        `aldaba settings {app} critical=on`

        nobody tells where this machine is, so this waits for ever; start the agent with --position geoclue, \
        file:PATH or command:COMMAND
        nadie dice dónde está esta máquina, así que esto espera para siempre; arranque el agente con --position \
        geoclue, file:PATH o command:COMMAND

        where this machine is, is not known, and this waits until it is: {error}
        no se sabe dónde está esta máquina, y esto espera hasta que se sepa: {error}

        --level must be one of: {names}
        --level debe ser uno de: {names}

        there is no picture {path}
        no existe la imagen {path}

        --hint {text} is not type:name:value, with a type of: {types}
        --hint {text} no es tipo:nombre:valor, con un tipo de: {types}

        --urgency must be one of: low, normal, critical
        --urgency debe ser uno de: low, normal, critical

        {text} is not id=label, with an id other than open and dismiss
        {text} no es id=etiqueta, con un id distinto de open y dismiss

        Nothing waits.
        No espera nada.

        give identifiers, as `aldaba notifications pending` shows them, or --all
        dé identificadores, como los muestra `aldaba notifications pending`, o --all

        there is no time zone {name}; name one such as Europe/Berlin or UTC
        no existe la zona horaria {name}; nombre una como Europe/Madrid o UTC

        give one of --at or --every (or both), --in and --near
        dé --at o --every (o las dos), --in o --near

        --zone belongs to --at
        --zone va con --at

        --leaving belongs to --near
        --leaving va con --near

        {option} must be a span of at least {least} s and at most a hundred years, such as 90s, 10m, 1h30m or 2d, \
        not {text}
        {option} debe ser un tiempo de {least} s como mínimo y de cien años como máximo, como 90s, 10m, 1h30m o 2d, \
        y no {text}

        --every with --at must be day or a day of the week, such as monday, not {text}
        --every con --at debe ser day o un día de la semana, como monday, y no {text}

        --every must be a span such as 90m, or hour, or with --at day or a day of the week, not {text}
        --every debe ser un tiempo como 90m, u hour, o con --at day o un día de la semana, y no {text}

        every hour has no time of day: leave --at out
        cada hora no tiene una hora del día: omita --at

        every {day} needs a time of day, such as --at 09:30
        cada {day} necesita una hora del día, como --at 09:30

        every {day} needs a time of day, such as --at 09:30, not {text}
        cada {day} necesita una hora del día, como --at 09:30, y no {text}

        --at must be a time such as 09:30, a day and a time such as "2026-12-24 18:00", or one with its offset from \
        UTC such as 2026-12-24T18:00+01:00, not {text}
        --at debe ser una hora como 09:30, un día y una hora como "2026-12-24 18:00", o una con su diferencia con \
        UTC como 2026-12-24T18:00+01:00, y no {text}

        --at has an offset from UTC already: leave --zone out
        --at ya tiene una diferencia con UTC: omita --zone

        --near must be LATITUDE,LONGITUDE or LATITUDE,LONGITUDE,RADIUS in degrees and metres (up to 20000000), such \
        as 52.52,13.405,200, not {text}
        --near debe ser LATITUD,LONGITUD o LATITUD,LONGITUD,RADIO en grados y metros (hasta 20000000), como \
        52.52,13.405,200, y no {text}

        the rules of the zone {zone} cannot be read
        las reglas de la zona {zone} no se pueden leer
        """)
}
