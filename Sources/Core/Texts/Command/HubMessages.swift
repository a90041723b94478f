extension CommandSection {
    /// Messages of `hub`.
    static let hubMessages = CommandSection(
        """
        --document: there is no file {path}
        --document: no existe el archivo {path}

        --document: {path} is no JSON: {error}
        --document: {path} no es JSON: {error}

        --document: {path} has no JSON object
        --document: {path} no tiene un objeto JSON

        there is no hub {name}; `aldaba hub list` shows those there are
        no existe el hub {name}; `aldaba hub list` muestra los que hay

        the register has no app {app}; `aldaba app list` shows those it has
        el registro no tiene la aplicación {app}; `aldaba app list` muestra las que tiene

        there already is a hub {name}; choose another name
        ya existe un hub {name}; elija otro nombre

        hub {name} of {topic}
        hub {name} de {topic}

        {name}  app {topic}  team {team}
        {name}  aplicación {topic}  equipo {team}

        a key's name has 1 to 256 bytes, without a semicolon
        el nombre de una clave tiene de 1 a 256 bytes, sin punto y coma

        --rights: there are Listen, Send, Manage and Report
        --rights: existen Listen, Send, Manage y Report

        --days and the right Report go with --api, and --backend does not
        --days y el derecho Report van con --api, y --backend no

        --days: 1 to 3650 would be right
        --days: debe ser de 1 a 3650

        the hub {hub} has no key {name}
        el hub {hub} no tiene la clave {name}

        revoked key {name} of hub {hub}
        clave {name} del hub {hub} revocada

        --environment: there are production and sandbox
        --environment: existen production y sandbox

        credential {number} of hub {hub}: {credential}
        credencial {number} del hub {hub}: {credential}

        browsers subscribe with applicationServerKey {key}
        los navegadores se suscriben con applicationServerKey {key}

        the hub {hub} has the VAPID key {key} already (credential {number}): with another one every browser that \
        subscribed with it is lost, and must subscribe again; --replace does it anyway
        el hub {hub} ya tiene la clave VAPID {key} (credencial {number}): con otra se pierde cada navegador que se \
        suscribió con ella, y debe suscribirse de nuevo; --replace lo hace de todos modos

        --subject is missing: mailto:ADDRESS or https://HOST
        falta --subject: mailto:ADDRESS o https://HOST

        --key is missing: the file of the credential
        falta --key: el archivo de la credencial

        {option}: {path} cannot be read, or is no text of at most 65536 bytes
        {option}: {path} no se puede leer, o no es un texto de 65536 bytes como máximo

        the hub {hub} has no credential {number}
        el hub {hub} no tiene la credencial {number}

        removed credential {number} of hub {hub}
        credencial {number} del hub {hub} quitada

        {path} cannot be read; is it there?
        {path} no se puede leer; ¿está ahí?

        {count} installations put into hub {hub}, {added} of them new; {wrong} lines left out
        {count} instalaciones guardadas en el hub {hub}, {added} de ellas nuevas; {wrong} líneas omitidas

        {count} lines are no installations
        {count} líneas no son instalaciones

        installations  {count} of {most}
        instalaciones  {count} de {most}

        documents      {size} of {most} bytes
        documentos     {size} de {most} bytes

        tags           at most {most}
        etiquetas      {most} como máximo

        writes         at most {most} a second by one key that only listens
        escrituras     {most} por segundo como máximo de una clave que solo escucha

        {option}: 1 to {most} would be right
        {option}: debe ser de 1 a {most}

        --keys: all, or some of {names}, would be right
        --keys: debe ser all, o algunas de {names}

        all that fit
        todas las que caben

        there is no kind "{kind}"; there are {kinds}
        no existe la clase "{kind}"; existen {kinds}
        """)
}
