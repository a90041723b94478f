extension CommandSection {
    /// The help of `person` and `audit`.
    static let peopleHelp = CommandSection(
        """
        Add, list and remove the people who use a server's console.
        Añade, enumera y quita las personas que usan la consola de un servidor.

        the link by which the first owner is set up
        el enlace con que se da de alta el primer propietario

        adds a person, and prints the link for a password
        añade una persona, y escribe el enlace para su contraseña

        owner, admin, sender, reader or support.
        owner (propietario), admin (administrador), sender (remitente), reader (lector) o support (soporte).

        The team of the role: ten characters A-Z0-9; without it all teams.
        El equipo de la función: diez caracteres A-Z0-9; sin él, todos los equipos.

        The number of the device that a person in support sees.
        El número del dispositivo que ve una persona de soporte.

        List the people with their roles.
        Enumera las personas con sus funciones.

        Add a person, and print the link by which the person sets a password within a day.
        Añade una persona, y escribe el enlace con que pone su contraseña en el plazo de un día.

        The name for logging in.
        El nombre con que inicia sesión.

        Give a person a role in a team, or in all teams.
        Da a una persona una función en un equipo, o en todos.

        The person's name.
        El nombre de la persona.

        Remove a person with all sessions, or only the role in one team.
        Quita una persona con todas sus sesiones, o solo su función en un equipo.

        The team whose role is removed; without it the person is.
        El equipo cuya función se quita; sin él, se quita la persona.

        Make a link by which a person sets a new password; without a name, by which the first owner is set up.
        Crea un enlace con que una persona pone una contraseña nueva; sin nombre, el enlace con que se da de alta el \
        primer propietario.

        The person's name; without it the first owner.
        El nombre de la persona; sin él, el primer propietario.

        List who changed what on a server, the newest first.
        Enumera quién cambió qué en un servidor, lo más nuevo primero.

        The log is in the data folder; the server need not run. It has every change by the console, the API and the \
        command line, and nothing deletes or changes an entry.
        El registro está en la carpeta de datos; no hace falta que el servidor esté en marcha. Tiene cada cambio \
        hecho por la consola, la API y la línea de órdenes, y nada borra ni cambia una entrada.

        Only these changes: app.add, or app for all of apps.
        Solo estos cambios: app.add, o app para todos los de aplicaciones.

        Only changes of objects whose name has this part.
        Solo cambios de objetos cuyo nombre contiene esto.

        Only changes by this actor: a name, a key's id, or a kind such as user.
        Solo cambios de este autor: un nombre, el identificador de una clave, o una clase como user.

        Only changes since then: a time such as 2026-11-21T04:05:06Z, or 90m, 12h, 7d ago.
        Solo cambios desde entonces: una hora como 2026-11-21T04:05:06Z, o hace 90m, 12h o 7d.
        """)
}
