extension CommandSection {
    /// The words of the parser: headings, and faults of a command line.
    static let parser = CommandSection(
        """
        OVERVIEW: {what}
        DESCRIPCIÓN: {what}

        USAGE: {usage}
        USO: {usage}

        Usage: {usage}
        Uso: {usage}

        ARGUMENTS:
        ARGUMENTOS:

        OPTIONS:
        OPCIONES:

        SUBCOMMANDS:
        SUBÓRDENES:

        SETTINGS OF SERVER AND AGENT:
        AJUSTES DE SERVIDOR Y AGENTE:

        SETTINGS OF THE SERVER:
        AJUSTES DEL SERVIDOR:

        SETTINGS OF THE AGENT:
        AJUSTES DEL AGENTE:

        OPTIONS OF A PROVIDER:
        OPCIONES DE UN PROVEEDOR:

        OPTIONS OF NOTIFY-SEND:
        OPCIONES DE NOTIFY-SEND:

        See '{command} <subcommand>' for detailed help.
        Vea los detalles con '{command} <subcommand>'.

        See '{command}' for more information.
        Hay más información con '{command}'.

        Show help information.
        Muestra la ayuda.

        Show the version.
        Muestra la versión.

        Show subcommand help information.
        Muestra la ayuda de una suborden.

        {what} (default: {value})
        {what} (por omisión: {value})

        {what} (default: {value}; of `up`: {other})
        {what} (por omisión: {value}; de `up`: {other})

        {what} (default as flag: {value})
        {what} (como opción sin valor: {value})

        {what} (values: {values})
        {what} (valores: {values})

        {what} (values: {values}; default: {value})
        {what} (valores: {values}; por omisión: {value})

        (default: {value})
        (por omisión: {value})

        (default as flag: {value})
        (como opción sin valor: {value})

        Error: {what}
        Error: {what}

        Help:  {option}  {what}
        Ayuda: {option}  {what}

        Unknown option '{option}'
        Opción desconocida '{option}'

        Unknown option '{option}'. Did you mean '{other}'?
        Opción desconocida '{option}'. ¿Quería decir '{other}'?

        Missing value for '{option}'
        Falta el valor de '{option}'

        Missing expected argument '{argument}'
        Falta el argumento '{argument}'

        Missing one of: '{arguments}'
        Falta uno de estos: '{arguments}'

        Missing required subcommand.
        Falta la suborden.

        Invalid option: {option}
        Opción no válida: {option}

        The option '{option}' does not take any value, but '{value}' was specified.
        La opción '{option}' no admite ningún valor, y se dio '{value}'.

        Unexpected argument '{argument}'
        El argumento '{argument}' sobra

        {count} unexpected arguments: '{arguments}'
        Sobran {count} argumentos: '{arguments}'

        Value to be set with {option} had already been set with {other}
        El valor que pone {option} ya lo había puesto {other}

        The value '{value}' is invalid for '{option}'
        El valor '{value}' no es válido para '{option}'

        The value '{value}' is invalid for '{option}': {what}
        El valor '{value}' no es válido para '{option}': {what}

        The value '{value}' is invalid for '{option}'. Please provide one of {values}.
        El valor '{value}' no es válido para '{option}'. Dé uno de estos: {values}.

        The value '{value}' is invalid for '{option}'. Please provide one of the following:
        El valor '{value}' no es válido para '{option}'. Dé uno de estos:

        {name} (default)
        {name} (por omisión)
        """)
}
