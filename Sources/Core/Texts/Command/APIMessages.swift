extension CommandSection {
    /// Refusals of the API under `/v1`, and of a campaign's document.
    static let apiMessages = CommandSection(
        #"""
        there is nothing of that name here
        aquí no hay nada con ese nombre

        the server could not find out; try again later
        el servidor no pudo averiguarlo; inténtelo de nuevo más tarde

        the body is larger than is taken here
        el cuerpo es mayor de lo que aquí se acepta

        the body cannot be read: it is malformed, or it ends early
        el cuerpo no se puede leer: está mal formado o termina antes de tiempo

        the body cannot be read: {reason}
        el cuerpo no se puede leer: {reason}

        the body is no JSON object: {reason}
        el cuerpo no es un objeto JSON: {reason}

        there is no member "{name}" here; there are {names}
        aquí no existe el miembro "{name}"; existen {names}

        there is no such member; there are {names}
        no existe ese miembro; existen {names}

        {name} is missing: {remedy}
        {name} falta: {remedy}

        ten characters A-Z0-9
        diez caracteres A-Z0-9

        1 to 64 letters, digits, - and _
        de 1 a 64 letras, cifras, - y _

        {name} is {value}; ten characters A-Z0-9 would be right
        {name} es {value}; deben ser diez caracteres A-Z0-9

        {name} is {value}; {low} to {high} would be right
        {name} es {value}; debe estar entre {low} y {high}

        {name} is {value}; true or false would be right
        {name} es {value}; debe ser true o false

        {name} is {value}; a list of texts would be right
        {name} es {value}; debe ser una lista de textos

        {name} is {value}; a text would be right
        {name} es {value}; debe ser un texto

        "{topic}" cannot name an app: `web-push` and names that begin with `aldaba.` are the program's own
        "{topic}" no puede nombrar una aplicación: `web-push` y los nombres que empiezan por `aldaba.` son del propio programa

        the app's bundle id, com.example.app
        el identificador de la aplicación, com.example.app

        the topic of the app that it is for
        el tema de la aplicación para la que es

        a certificate signing request in PEM, as `openssl req -new` makes it
        una solicitud de certificado en PEM, como la que crea `openssl req -new`

        {topic} does not have the capability of push notifications
        {topic} no tiene la capacidad de notificaciones push

        the certificate ended at {at}
        el certificado caducó el {at}

        the certificate {id} was revoked before
        el certificado {id} ya estaba revocado

        the register has no app {topic}; POST /v1/apps adds it
        el registro no tiene la aplicación {topic}; POST /v1/apps la añade

        environments: a list of sandbox, production or both would be right
        environments: debe ser una lista con sandbox, production o ambos

        keyId goes with key, the text of AuthKey_KEYID.p8; without both a key is made
        keyId va con key, el texto de AuthKey_KEYID.p8; sin ambos se crea una clave

        key is no P-256 key in PEM, as Apple's AuthKey_KEYID.p8 is
        key no es una clave P-256 en PEM, como lo es AuthKey_KEYID.p8 de Apple

        the app {topic} has no webhook; PUT gives it one
        la aplicación {topic} no tiene webhook; PUT le da uno

        the register has no {what}; GET {list} shows those it has
        el registro no tiene {what}; GET {list} muestra lo que tiene

        service account {id} that could be revoked
        ninguna cuenta de servicio {id} que se pueda revocar

        enrolment key {id} that could be revoked
        ninguna clave de alta {id} que se pueda revocar

        key {id} that could be revoked
        ninguna clave {id} que se pueda revocar

        no app has the topic {topic}; "team" names the team that sends
        ninguna aplicación tiene el tema {topic}; "team" nombra el equipo que envía

        no app has this token; "team" names the team that sends
        ninguna aplicación tiene este token; "team" nombra el equipo que envía

        the app is of another team
        la aplicación es de otro equipo

        a device has a token for each app: "apns-topic" names the app
        un dispositivo tiene un token para cada aplicación: "apns-topic" nombra la aplicación

        the device {device} has no active registration of {topic} here
        el dispositivo {device} no tiene aquí ningún registro activo de {topic}

        exactly one of "token" and "device" is wanted
        se necesita uno solo de "token" y "device"

        device is a device's number, as GET /v1/devices has it
        device es el número de un dispositivo, como lo da GET /v1/devices

        "{text}" is no device's id; a decimal number would be right
        "{text}" no es el id de un dispositivo; debe ser un número decimal

        the register has no device {device}
        el registro no tiene el dispositivo {device}

        the device {device} is {state}, and cannot be {change}
        el estado del dispositivo {device} es {state} y no admite {change}

        {limit} streams are open already; try again later
        ya hay {limit} flujos abiertos; inténtelo de nuevo más tarde

        the team has {share} streams open already; close one, or try again later
        el equipo ya tiene {share} flujos abiertos; cierre uno o inténtelo de nuevo más tarde

        a campaign is a JSON object
        una campaña es un objeto JSON

        a rate is 1 to 100000 a second
        un ritmo es de 1 a 100000 por segundo

        a campaign has either properties for templates or contents
        una campaña tiene o bien propiedades para plantillas o bien contenidos

        a campaign has either a content or an experiment's variants
        una campaña tiene o bien un contenido o bien las variantes de un experimento

        the content is missing
        falta el contenido

        either all contents are silent or none is
        o todos los contenidos son silenciosos o no lo es ninguno

        a campaign has either an instant or the recipients' local time
        una campaña tiene o bien un instante o bien la hora local de los destinatarios

        expected an instant such as 2030-01-01T09:00:00+01:00
        se esperaba un instante como 2030-01-01T09:00:00+01:00

        this is to be a whole number
        debe ser un número entero

        this is to be a string
        debe ser un texto

        this is to be an object
        debe ser un objeto

        this is to be true or false
        debe ser true o false

        this is to be a list of ids of installations
        debe ser una lista de ids de instalaciones

        the id of an installation is missing
        falta el id de una instalación

        the push channel is missing
        falta el canal push

        a state is dead or live
        un estado es dead o live

        a silent content shows nothing; leave this out, or "silent"
        un contenido silencioso no muestra nada; quite esto o "silent"

        there are {count} languages; at most {most} are taken
        hay {count} idiomas; se aceptan {most} como máximo

        this is no language such as de, or language and region such as de-AT
        no es un idioma como de, ni un idioma con región como de-AT

        title and body are empty, so that nothing would be shown
        el título y el texto están vacíos, así que no se mostraría nada

        a link is a whole address: https://host/path, or one of an app's scheme
        un enlace es una dirección completa: https://host/ruta, o una del esquema de una aplicación

        addresses of the scheme "{scheme}" are not taken
        no se aceptan direcciones del esquema "{scheme}"
        """#)
}
