/**
 * The few words that both ends of the wire must share before anything else: version, headers, service name.
 * No schema library is loaded from here, so that a command line client starts fast.
 */

/** Grows when an old client would misread an answer; adding fields does not count. */
export const protocolVersion = 1
/** As upstream names it, so that its clients recognise the service. */
export const serviceName = 'cli-agent-orchestrator'
export const defaultPort = 9889
/** An agent shows this token and then acts only as itself. */
export const capabilityHeader = 'x-cao-capability'
/** Largest request body. Units: bytes. */
export const bodyBytesMax = 8 * 1024 * 1024
/** Longest request line and headers: upstream's clients put whole messages into the query. Units: bytes. */
export const headerBytesMax = 256 * 1024
/** Longest time for which `GET /jobs/{id}?wait_s=` holds one request open. Units: s. */
export const jobWaitMaxS = 60
/** Longest time for which a request to type something is held open. Units: s. */
export const inputWaitMaxS = 60
/** Units: s. */
export const stepTimeoutDefaultS = 600
/** An assigned job may run over night. Units: s. */
export const assignTimeoutDefaultS = 24 * 60 * 60
export const jobTimeoutMaxS = 7 * 24 * 60 * 60
