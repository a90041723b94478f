extension CommandSection {
    /// Messages of apps, keys, certificates, teams and service accounts.
    static let registerMessages = CommandSection(
        """
        "{topic}" cannot name an app; letters, digits, dots, - and _, at most 255
        "{topic}" no puede nombrar una aplicación; letras, cifras, puntos, - y _, 255 como máximo

        "{topic}" cannot name an app: `web-push` and names that begin with `aldaba.` are the program's own; take one such as \
        com.example.app
        "{topic}" no puede nombrar una aplicación: `web-push` y los nombres que empiezan por `aldaba.` son del programa; use uno \
        como com.example.app

        --id: "{id}" cannot name an app; take one such as com.example.app
        --id: "{id}" no puede nombrar una aplicación; use uno como com.example.app

        --team: "{team}" is not ten characters A-Z0-9
        --team: "{team}" no son diez caracteres A-Z0-9

        {name} is there already; take another name or folder
        {name} ya existe; use otro nombre u otra carpeta

        --source: {path} does not hold Aldaba's Package.swift
        --source: {path} no contiene el Package.swift de Aldaba

        Aldaba's source is not above this program; name its folder with --source
        el código de Aldaba no está por encima de este programa; nombre su carpeta con --source

        {path} cannot be written: {error}
        {path} no se puede escribir: {error}

        name what is to change: --name, --push, --no-push, --limit or --overflow
        diga qué debe cambiar: --name, --push, --no-push, --limit u --overflow

        --limit: {limit} is not at least 1
        --limit: {limit} no es 1 como mínimo

        --overflow: "{text}" is none of dropOldest, keepNewest and clear
        --overflow: "{text}" no es dropOldest, keepNewest ni clear

        the app was removed just now
        la aplicación se acaba de quitar

        team {team} has no project number
        el equipo {team} no tiene número de proyecto

        {path}: sender {number}, project {project}
        {path}: remitente {number}, proyecto {project}

        "{text}" is no capability; the one there is is push
        "{text}" no es una capacidad; la única que hay es push

        the register has no app {topic}; `aldaba app list` shows those it has
        el registro no tiene la aplicación {topic}; `aldaba app list` muestra las que tiene

        the register has no app {topic}; `aldaba app create {other}` adds it, `aldaba app list` shows those it has
        el registro no tiene la aplicación {topic}; `aldaba app create {other}` la añade, `aldaba app list` muestra \
        las que tiene

        removed {topic}
        quitada {topic}

        without push
        sin push

        {topic}  team {team}  limit {limit}
        {topic}  equipo {team}  límite {limit}

        {path}: it is valid from {from} to {to} only
        {path}: solo vale del {from} al {to}

        the register has no authority {id}; `aldaba certificate list-ca` shows those it has
        el registro no tiene la autoridad {id}; `aldaba certificate list-ca` muestra las que tiene

        {certificate}: the register does not have this certificate of {app}; `aldaba certificate import` adds it
        {certificate}: el registro no tiene este certificado de {app}; lo añade `aldaba certificate import`

        the certificate {certificate} was revoked before
        el certificado {certificate} ya estaba revocado

        revoked certificate {id} of {app}
        certificado {id} de {app} revocado

        --days: {days} is not 1 to {most}
        --days: {days} no está entre 1 y {most}

        --ca and --ca-key belong together
        --ca y --ca-key van juntas

        {app} does not have the capability; `aldaba app enable {other} push` gives it
        {app} no tiene la capacidad; se la da `aldaba app enable {other} push`

        --environment: "{text}" is not sandbox, production or both
        --environment: "{text}" no es sandbox, production ni both

        the register has no certificate {id}; `aldaba certificate list` shows those it has
        el registro no tiene el certificado {id}; `aldaba certificate list` muestra los que tiene

        "{id}" is not 1 to 64 letters, digits, - and _
        "{id}" no son de 1 a 64 letras, cifras, - y _

        --quota takes 1 to 1000000000
        --quota admite de 1 a 1000000000

        --hours takes 1 to 876000
        --hours admite de 1 a 876000

        the register has no enrolment key {id} that could be revoked
        el registro no tiene ninguna clave de alta {id} que se pueda revocar

        revoked enrolment key {id}
        clave de alta {id} revocada

        "{name}" is no environment; there are sandbox and production
        "{name}" no es un entorno; existen sandbox y production

        key {key} of team {team}
        clave {key} del equipo {team}

        key {key} of team {team}: {path}
        clave {key} del equipo {team}: {path}

        {key}  team {team}  since {time}
        {key}  equipo {team}  desde {time}

        the register has no key {key}; `aldaba key list` shows those it has
        el registro no tiene la clave {key}; `aldaba key list` muestra las que tiene

        {path} has no private half of a key {key}
        {path} no tiene la mitad privada de ninguna clave {key}

        the register has no key {key} that could be revoked; `aldaba key list` shows those it has
        el registro no tiene ninguna clave {key} que se pueda revocar; `aldaba key list` muestra las que tiene

        revoked key {key} of team {team}
        clave {key} del equipo {team} revocada

        the service account's own key cannot be read
        la clave de la cuenta de servicio no se puede leer

        the register has another key {key}, of team {team}; a key's id is given once
        el registro tiene otra clave {key}, del equipo {team}; el identificador de una clave se da una sola vez

        the key {key} was revoked here, and a revoked key does not come back
        la clave {key} se revocó aquí, y una clave revocada no vuelve

        --url: "{address}" is not an address https://host:port; plain http is for loopback, since access tokens are \
        sent there
        --url: "{address}" no es una dirección https://host:port; http sin TLS es para loopback, pues allí se envían \
        tokens de acceso

        --output: {path} is there already, and may hold a key that is nowhere else
        --output: {path} ya existe, y puede contener una clave que no está en ninguna otra parte

        service account {account} of team {team}: {path}
        cuenta de servicio {account} del equipo {team}: {path}

        the register has no service account {account} that could be revoked; `aldaba service-account list` shows \
        those it has
        el registro no tiene ninguna cuenta de servicio {account} que se pueda revocar; `aldaba service-account \
        list` muestra las que tiene

        revoked service account {account} of team {team}
        cuenta de servicio {account} del equipo {team} revocada

        the register has no such service account; `aldaba service-account create` makes one
        el registro no tiene esa cuenta de servicio; `aldaba service-account create` crea una

        team {team} has {count} service accounts; name one of `aldaba service-account list`
        el equipo {team} tiene {count} cuentas de servicio; nombre una de `aldaba service-account list`

        {path} holds no usable key
        {path} no contiene ninguna clave que sirva

        --id: "{id}" is not ten characters A-Z0-9
        --id: "{id}" no son diez caracteres A-Z0-9

        a team's name has 1 to 255 bytes
        el nombre de un equipo tiene de 1 a 255 bytes

        the register has no team {team}; `aldaba team list` shows those it has
        el registro no tiene el equipo {team}; `aldaba team list` muestra los que tiene

        secret {secret}
        secreto {secret}

        Keep it now: it is not shown again.
        Guárdelo ahora: no se vuelve a mostrar.

        removed the webhook of {topic}
        webhook de {topic} quitado

        {topic} has no webhook; `aldaba app webhook set` gives it one
        {topic} no tiene webhook; se lo da `aldaba app webhook set`

        key {key}
        clave {key}

        {key}  {account}  team {team}  {state}
        {key}  {account}  equipo {team}  {state}

        {topic}  {address}  since {time}
        {topic}  {address}  desde {time}

        key {key}  team {team}  since {time}
        clave {key}  equipo {team}  desde {time}
        """)
}
