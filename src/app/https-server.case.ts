/**
 * A real https server on loopback with a certificate of its own, for what fetches from the web. The certificate is made here,
 * since no tool for it is on every machine: a few dozen bytes of DER around a fresh key. Source: RFC 5280 section 4.1.
 */
import { generateKeyPairSync, sign } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}
const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const commonName = (text: string) => sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(text)))))

export type Identity = { readonly key: string; readonly cert: string }

/** Signed by itself, for these names and for 127.0.0.1, from 2020 to 2049. */
export function createIdentity(names: readonly string[]): Identity {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const name = commonName(names[0] ?? 'localhost')
  const alternatives = sequence(
    ...names.map((one) => der(0x82, Buffer.from(one))),
    der(0x87, Buffer.from([127, 0, 0, 1])),
  )
  const extension = (id: string, content: Uint8Array) => sequence(oid(id), der(0x04, content))
  const isAuthority = extension('551d13', sequence(der(0x01, Buffer.from([0xff]))))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z'))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isAuthority, extension('551d11', alternatives))),
  )
  const signature = sign('sha256', body, privateKey)
  const whole = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? []
  const cert = `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert }
}

export type Answer = (request: IncomingMessage, answer: ServerResponse) => void

export class HttpsServer implements AsyncDisposable {
  readonly cert: string
  readonly #server: Server
  /** Paths that were asked for, in order. */
  readonly asked: string[] = []

  private constructor(identity: Identity, answer: Answer) {
    this.cert = identity.cert
    this.#server = createServer(identity, (request, response) => {
      this.asked.push(request.url ?? '')
      answer(request, response)
    })
  }

  static async start(names: readonly string[], answer: Answer): Promise<HttpsServer> {
    const started = new HttpsServer(createIdentity(names), answer)
    await new Promise<void>((resolve, reject) => {
      started.#server.once('error', reject).listen(0, '127.0.0.1', resolve)
    })
    return started
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
