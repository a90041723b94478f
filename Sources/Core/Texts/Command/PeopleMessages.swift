extension CommandSection {
    /// Messages of `person` and `audit`.
    static let peopleMessages = CommandSection(
        """
        nobody can log in to the console yet: within ten minutes, open {address}; `aldaba person link` makes another
        aún no puede iniciar sesión nadie en la consola: antes de diez minutos, abra {address}; `aldaba person link` \
        crea otro enlace

        --role: "{role}" is not one of {roles}
        --role: "{role}" no es una de {roles}

        --device: a person in support needs the number of a device
        --device: una persona de soporte necesita el número de un dispositivo

        there is no person {name}; `aldaba person list` shows those there are
        no existe la persona {name}; `aldaba person list` muestra las que hay

        a name has 1 to 64 letters a-z, digits, and - _ . @ +
        un nombre tiene de 1 a 64 letras a-z, cifras, y - _ . @ +

        the console has people; name the one whose password is to be set: aldaba person list
        la consola tiene personas; nombre aquella cuya contraseña se ha de poner: aldaba person list

        the change was made, but the audit log does not say so: {error}
        el cambio se hizo, pero no consta en el registro de cambios: {error}

        {name} is {role} of all teams
        {name} es {role} de todos los equipos

        {name} is {role} of {team}
        {name} es {role} de {team}

        removed {name} from {team}
        se quitó a {name} de {team}

        all teams
        todos los equipos

        device
        dispositivo

        no role
        sin rol

        has not set a password
        no ha puesto contraseña

        --since: "{text}" is no time; 2026-11-21T04:05:06Z, 90m, 12h or 7d would be right
        --since: "{text}" no es una hora; debe ser como 2026-11-21T04:05:06Z, 90m, 12h o 7d
        """)
}
